"""Edits not yet saved, without a user interface: catalogue, validation, merge, review."""
