"""A notice shown by the terminal, outside of the deck's screen, for who looks elsewhere."""

from __future__ import annotations

from collections.abc import Mapping

from quarterdeck.tui.text import Shown

TITLE = "Quarterdeck"
LONGEST = 200
"""Characters of a notice; desktops show no more."""


def notice(words: Shown, environ: Mapping[str, str]) -> str:
    """What makes a terminal show a notice; terminals that know of none ignore it. Empty where one would print it.

    OSC 777 is what most terminals take (urxvt, VTE, foot, kitty, WezTerm, Ghostty), OSC 9 what iTerm2 does. tmux drops
    both, and passes on what is wrapped for it where its `allow-passthrough` is on.
    """
    if environ.get("TERM", "").startswith("linux"):
        return ""
    said = words.replace(";", ",").replace("\n", " ")[:LONGEST]
    iterm = environ.get("LC_TERMINAL") == "iTerm2" or environ.get("TERM_PROGRAM") == "iTerm.app"
    sequence = f"\x1b]9;{TITLE}: {said}\x07" if iterm else f"\x1b]777;notify;{TITLE};{said}\x07"
    if not environ.get("TMUX"):
        return sequence
    return "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\"
