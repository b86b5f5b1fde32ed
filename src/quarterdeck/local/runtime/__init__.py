"""The two implementations of sandboxes: processes of this machine, or simulated rows."""
