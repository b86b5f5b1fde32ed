"""Dialogs above a screen; each only dismisses with its answer."""
