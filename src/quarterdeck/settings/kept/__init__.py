"""What outlives a draft, without secrets: notes of unsaved edits, saves and parked servers, and settings as files."""
