"""The logic of the two lists: rows, order, filter, folding and commands."""
