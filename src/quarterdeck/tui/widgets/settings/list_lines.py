"""The lists of the form that act at once, as lines."""

from collections.abc import Iterator

from quarterdeck.settings.fields import Group
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.text import Shown, line
from quarterdeck.tui.widgets.settings.cells import brief
from quarterdeck.tui.widgets.settings.lines import LABEL_WIDTH, Line
from quarterdeck.tui.widgets.settings.rows import RowKind
from quarterdeck.tui.widgets.settings.view import FormView

READING = Shown("Reading…")


def secret_lines(view: FormView) -> Iterator[Line]:
    """The custom secrets; a value is never told."""
    yield from _unread(view, Group.SECRETS, RowKind.SECRET, known=view.lists.secrets is not None)
    for secret in view.secrets():
        about = cell(brief(secret.description or ""), Tone.MUTED)
        chip = cell(Shown("value stored"), Tone.GOOD)
        yield Line(((cell(brief(secret.name)), LABEL_WIDTH), (about, 0)), chip, f"{RowKind.SECRET}{secret.name}")
    if view.lists.secrets == () and not view.query:
        yield _empty(RowKind.SECRET, " adds one; sandboxes get it as a variable.")


def token_lines(view: FormView) -> Iterator[Line]:
    """The git providers that a token is stored for."""
    for provider, host in view.shown_tokens():
        at = cell(brief(host or "its usual host"), Tone.PLAIN if host else Tone.MUTED)
        chip = cell(Shown("token stored"), Tone.GOOD)
        yield Line(((cell(brief(provider)), LABEL_WIDTH), (at, 0)), chip, f"{RowKind.TOKEN}{provider}")
    if not view.tokens and not view.query:
        yield _empty(RowKind.TOKEN, " sets one.")


def profile_lines(view: FormView) -> Iterator[Line]:
    """The LLM profiles."""
    profiles = view.lists.profiles
    yield from _unread(view, Group.PROFILES, RowKind.PROFILE, known=profiles is not None)
    for profile in view.profiles():
        is_active = profiles is not None and profile.name == profiles.active
        said = cell(Shown("active"), Tone.GOOD) if is_active else ()
        name = cell(brief(profile.name), Tone.STRONG if is_active else Tone.PLAIN)
        model = cell(brief(profile.model or ""), Tone.MUTED)
        yield Line(((name, LABEL_WIDTH), (model, 0)), said, f"{RowKind.PROFILE}{profile.name}")
    if profiles is not None and not profiles.items and not view.query:
        yield _empty(RowKind.PROFILE, " saves the LLM settings as one.")


def _unread(view: FormView, group: Group, kind: RowKind, *, known: bool) -> Iterator[Line]:
    trouble = view.lists.trouble.get(group)
    if trouble is not None and not view.query:
        yield Line(((cell(line(trouble), Tone.WARN), 0),), row=kind)
    elif not known and not view.query:
        yield Line(((cell(READING, Tone.MUTED), 0),), row=kind)


def _empty(kind: RowKind, hint: str) -> Line:
    said: Cell = ((Shown("None yet. "), Tone.MUTED), (Shown("a"), Tone.KEY), (Shown(hint), Tone.MUTED))
    return Line(((said, 0),), row=kind)
