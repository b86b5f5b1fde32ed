"""A service that pretends: sandboxes and conversations in memory, made by a seed, changing as if people used them."""
