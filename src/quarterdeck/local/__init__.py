"""The embedded local service: an ASGI app over SQLite, with sandboxes as local processes."""
