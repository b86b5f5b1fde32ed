"""Markdown as lines of the deck: its text goes through the door before it is read, and what is read once more.

Entities and references bring back what the door took out, so nothing that a parser gives is painted as it is.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.cells import cell_len, chop_cells

from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Span, Tone
from quarterdeck.tui.text import Shown

_PARSER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
_TOKENS = re.compile(r"\s+|\S+")
_TONES = {"strong": Tone.STRONG, "em": Tone.EDITED, "s": Tone.MUTED, "link": Tone.KEY}
INDENT = Shown("  ")
DEEPEST = 8
"""Levels of lists and quotes that are still set in."""


def wrap(cell: Cell, width: int) -> list[Cell]:
    """Break a line between words, and words that are longer than a line."""
    if sum(len(part) for part, _ in cell) <= width and all(part.isascii() for part, _ in cell):
        return [cell]
    lines: list[Cell] = []
    line: list[Span] = []
    used = 0
    for part, tone in cell:
        for token in _TOKENS.findall(part):
            cells = cell_len(token)
            if used + cells > width and line:
                lines.append(_joined(line))
                line, used = [], 0
                if token.isspace():
                    continue
            for piece in chop_cells(token, max(width, 2)) if cells > width else (token,):
                if used and used + cell_len(piece) > width:
                    lines.append(_joined(line))
                    line, used = [], 0
                line.append((Shown(piece), tone))
                used += cell_len(piece)
    return [*lines, _joined(line)] if line or not lines else lines


def _joined(spans: Sequence[Span]) -> Cell:
    """Neighbours of one tone as one span."""
    joined: list[Span] = []
    for part, tone in spans:
        if joined and joined[-1][1] is tone:
            joined[-1] = Shown(joined[-1][0] + part), tone
        else:
            joined.append((part, tone))
    return tuple(joined)


def plain_lines(value: Shown, width: int, tone: Tone = Tone.PLAIN) -> list[Cell]:
    """Text as it stands, wrapped where a line is too long."""
    return [line for each in value.split("\n") for line in wrap(((Shown(each), tone),), width)]


def markdown_lines(value: str, width: int) -> list[Cell]:
    """Markdown, laid out and wrapped; links show their address, pictures are words."""
    lines: list[Cell] = []
    prefixes: list[Shown] = []
    numbers: list[int | None] = []
    bullet: Shown | None = None
    tone = Tone.PLAIN
    row: list[Span] = []
    at = 0
    for token in _PARSER.parse(text.whole(value)):
        match token.type:
            case "blockquote_open":
                prefixes.append(Shown("▏ "))
            case "blockquote_close" | "bullet_list_close" | "ordered_list_close" if prefixes:
                prefixes.pop()
                if token.type != "blockquote_close":
                    numbers.pop()
                _end_block(lines, token.level)
            case "bullet_list_open":
                prefixes.append(INDENT)
                numbers.append(None)
            case "ordered_list_open":
                start = token.attrs.get("start", 1)
                prefixes.append(Shown("   "))
                numbers.append(start if isinstance(start, int) else 1)
            case "list_item_open":
                number = numbers[-1]
                bullet = Shown("• " if number is None else f"{number}.")
                numbers[-1] = None if number is None else number + 1
            case "heading_open":
                tone = Tone.STRONG
            case "heading_close":
                tone = Tone.PLAIN
                _end_block(lines, token.level)
            case "paragraph_close" if not token.hidden:
                _end_block(lines, token.level)
            case "inline":
                for spans in _inline(token.children or (), tone):
                    lines += _set_in(spans, prefixes, bullet, width)
                    bullet = None
            case "fence" | "code_block":
                shown = text.whole(token.content.rstrip("\n"))
                for each in shown.split("\n"):
                    code = ((Shown("│ "), Tone.MUTED), (Shown(each), Tone.PLAIN))
                    lines += _set_in(code, prefixes, bullet, width)
                    bullet = None
                _end_block(lines, token.level)
            case "hr":
                lines += _set_in(((Shown("─" * 12), Tone.MUTED),), prefixes, bullet, width)
            case "tr_open":
                row = [(Shown("│ "), Tone.MUTED)]
            case "th_close" | "td_close":
                row += [*(span for line in lines[at:] for span in line), (Shown(" │ "), Tone.MUTED)]
                del lines[at:]
            case "th_open" | "td_open":
                at = len(lines)
            case "tr_close":
                lines += _set_in(_joined(row), prefixes, None, width)
            case "table_close":
                _end_block(lines, token.level)
            case _:
                pass
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _end_block(lines: list[Cell], level: int) -> None:
    """A blank line after what stands alone."""
    if lines and lines[-1] and level == 0:
        lines.append(())


def _set_in(cell: Cell, prefixes: Sequence[Shown], bullet: Shown | None, width: int) -> Iterator[Cell]:
    """A line behind what it is set in by; the first one has the bullet of its list item."""
    shown = prefixes[:DEEPEST]
    rest = Shown("".join(shown))
    first = rest
    if bullet is not None and shown:
        first = Shown("".join(shown[:-1]) + bullet.ljust(len(shown[-1])))
    for number, line in enumerate(wrap(cell, max(width - cell_len(rest), 8))):
        prefix = rest if number else first
        yield ((prefix, Tone.MUTED), *line) if prefix else line


def _inline(tokens: Iterable[Token], tone: Tone) -> Iterator[Cell]:
    """The lines of a paragraph; each text is cleaned once more."""
    spans: list[Span] = []
    tones = [tone]
    address = ""
    for token in tokens:
        match token.type:
            case "text":
                spans.append((_inner(token.content), tones[-1]))
            case "code_inline":
                spans.append((_inner(token.content), Tone.KEY))
            case "softbreak" | "hardbreak":
                yield _joined(spans)
                spans = []
            case "image":
                told = f"(a picture: {token.content or 'no words'}, {token.attrs.get('src', '')})"
                spans.append((text.line(told), Tone.MUTED))
            case "link_open":
                address = str(token.attrs.get("href", ""))
                tones.append(Tone.KEY)
            case "link_close":
                tones.pop()
                if address and address != "".join(part for part, _ in spans[-1:]):
                    spans.append((text.line(f" ({address})"), Tone.MUTED))
                    spans.insert(len(spans) - 1, (Shown(" "), Tone.PLAIN))
            case _ if token.nesting == 1:
                tones.append(_TONES.get(token.tag and token.type.removesuffix("_open"), tones[-1]))
            case _ if token.nesting == -1 and len(tones) > 1:
                tones.pop()
            case _:
                spans.append((_inner(token.content), tones[-1]))
    if spans:
        yield _joined(spans)


def _inner(value: str) -> Shown:
    """A part of a line, its blanks at both ends kept."""
    return Shown(text.whole(value).replace("\n", " "))
