"""The way to the terminal of a person: what of a screen is sent there, in which bytes, and how it is written."""
