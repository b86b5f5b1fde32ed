"""The client against servers that are right, wrong, slow and hostile."""
