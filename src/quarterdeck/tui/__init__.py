"""The user interface: what the terminal shows and which keys do what."""

import os

# Textual reads this at import. Its default of 100 ms is noticeable at each escape key; a value set by the user is kept.
os.environ.setdefault("ESCDELAY", "15")
