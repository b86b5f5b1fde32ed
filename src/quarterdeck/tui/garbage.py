"""When Python looks for garbage: not while the deck starts, and through everything it has only now and then.

Looking through all objects takes tens of milliseconds once thousands of rows are there, and a key would wait for it.
"""

import gc

YOUNG = 2_000
"""Objects that may come before the new ones are looked through: less than a millisecond."""
NEVER = 1_000_000
EVERY = 600.0
"""Seconds between two looks through everything."""


def wait() -> None:
    """Leave garbage alone for now: start-up makes many objects that stay; looking at them takes a tenth of it."""
    gc.disable()


def settle() -> None:
    """Look for garbage from now on, but not among what there is; does nothing where nobody asked to `wait`."""
    if not gc.isenabled():
        gc.freeze()
        gc.set_threshold(YOUNG, 10, NEVER)
        gc.enable()


def look() -> None:
    """Look through everything that came since `settle`."""
    gc.collect()
