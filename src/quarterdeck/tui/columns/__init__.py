"""Records as cells of a list and lines of a detail: pure functions without widgets."""
