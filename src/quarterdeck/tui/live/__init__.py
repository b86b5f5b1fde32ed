"""What goes on through one connection: what is read, what follows from it, and what is asked for."""
