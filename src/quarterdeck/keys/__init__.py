"""Where the key of a connection is: an environment variable, the system keyring, or a private file."""
