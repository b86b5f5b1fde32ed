"""What the settings screen does beside painting: reading, saving, noting down, checking and carrying settings."""
