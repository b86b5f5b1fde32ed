"""Unsaved edits, without a user interface: catalogue, validation, merge, review, saving and undo."""
