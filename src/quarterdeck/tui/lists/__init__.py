"""What the two lists show: rows to cells, counts, details; pure, so that it can be tested without a screen."""
