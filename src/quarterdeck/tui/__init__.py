"""The face: what the terminal shows and which keys do what."""

import os

# Textual reads it when it is imported: its own 100 ms are felt at each escape key. Who set it keeps it.
os.environ.setdefault("ESCDELAY", "15")
