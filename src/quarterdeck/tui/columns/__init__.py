"""Records as cells of a list and lines of a detail: pure, no widgets."""
