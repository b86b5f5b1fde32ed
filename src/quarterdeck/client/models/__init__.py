"""The shapes that travel: frozen models and wire enums, one file a noun."""
