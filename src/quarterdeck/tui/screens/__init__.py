"""The screens, one a mode."""
