"""Which settings there are: their labels, how each is read and checked, and what a server adds of its own."""
