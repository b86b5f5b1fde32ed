"""Questions asked above a screen; each only ever dismisses with its answer."""
