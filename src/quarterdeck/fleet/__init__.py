"""Live state without a user interface: records by id, the watch, transitions, filters, plans."""
