"""The face: what the terminal shows and which keys do what."""
