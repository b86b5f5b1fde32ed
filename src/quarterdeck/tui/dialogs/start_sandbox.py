"""Which spec a sandbox is started from."""

from collections.abc import Awaitable, Callable, Iterable, Sequence

from quarterdeck.client.models.sandbox import SandboxSpec
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.dialogs.pick import Item, PickDialog
from quarterdeck.tui.text import Shown


def pick_spec(
    read: Callable[[], Awaitable[Sequence[SandboxSpec]]], forecast: Iterable[Cell] = ()
) -> PickDialog[SandboxSpec]:
    """Pick one of the specs that are read; the first one is the server's default."""

    async def items() -> list[Item[SandboxSpec]]:
        specs = await read()
        return [Item(_line(spec, is_default=not at), spec) for at, spec in enumerate(specs)]

    return PickDialog(Shown("Start a sandbox"), items, take="start", about=_about, said=forecast)


def _line(spec: SandboxSpec, *, is_default: bool) -> Cell:
    return (text.line(spec.id), Tone.PLAIN), (Shown("  (default)" if is_default else ""), Tone.MUTED)


def _about(spec: SandboxSpec) -> list[Cell]:
    """What is known of a spec; values of its environment are never shown."""
    command = text.line(" ".join(spec.command)) if spec.command else Shown("its own")
    names = text.line(", ".join(sorted(spec.initial_env))) if spec.initial_env else Shown("none")
    return [
        ((Shown("command      "), Tone.MUTED), (command, Tone.PLAIN)),
        ((Shown("folder       "), Tone.MUTED), (text.line(spec.working_dir or "-"), Tone.PLAIN)),
        ((Shown("environment  "), Tone.MUTED), (names, Tone.PLAIN)),
    ]
