"""The screens, one per mode."""
