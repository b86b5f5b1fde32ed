"""Markdown as lines of the deck: its text goes through the door before it is read, and what is read once more.

Entities and references bring back what the door took out, so nothing that a parser gives is painted as it is.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from rich.cells import cell_len, chop_cells

from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Span, Tone
from quarterdeck.tui.text import Shown

_PARSER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
_TOKENS = re.compile(r"\s+|\S+")
_TONES = {"strong": Tone.STRONG, "em": Tone.EDITED, "s": Tone.MUTED}
BAR: Span = (Shown("│ "), Tone.MUTED)
BREAK: Span = (Shown("\n"), Tone.PLAIN)
NARROWEST = 8
"""Cells that the text keeps, however deep it is set in."""


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
    """Markdown, laid out and wrapped, with a blank line between what stands apart; links show their address."""
    lines: list[Cell] = []
    for block in SyntaxTreeNode(_PARSER.parse(text.whole(value))).children:
        lines += [(), *_block(block, width)] if lines else _block(block, width)
    return lines


def _block(node: SyntaxTreeNode, width: int) -> list[Cell]:
    width = max(width, NARROWEST)
    match node.type:
        case "bullet_list":
            return [line for item in node.children for line in _behind("• ", "  ", item, width)]
        case "ordered_list":
            start = node.attrs.get("start", 1)
            numbered = enumerate(node.children, start if isinstance(start, int) else 1)
            return [line for number, item in numbered for line in _behind(f"{number}.".ljust(3), "   ", item, width)]
        case "blockquote":
            return _behind("▏ ", "▏ ", node, width)
        case "fence" | "code_block":
            code = text.whole(node.content.rstrip("\n")).split("\n")
            return [line for each in code for line in wrap((BAR, (Shown(each), Tone.PLAIN)), width)]
        case "hr":
            return [((Shown("─" * 12), Tone.MUTED),)]
        case "table":
            rows = [row for part in node.children for row in part.children]
            return [line for row in rows for line in wrap(_row(row), width)]
        case kind:
            tone = Tone.STRONG if kind == "heading" else Tone.PLAIN
            return [line for cell in _inline(node, tone) for line in wrap(cell, width)]


def _behind(first: str, rest: str, node: SyntaxTreeNode, width: int) -> list[Cell]:
    """What is inside of a list item or a quote, behind its sign."""
    inside = [line for child in node.children for line in _block(child, width - len(rest))] or [()]
    return [((Shown(rest if number else first), Tone.MUTED), *line) for number, line in enumerate(inside)]


def _row(row: SyntaxTreeNode) -> Cell:
    """The cells of a row of a table, between bars."""
    spans: list[Span] = [BAR]
    for cell in row.children:
        spans += [*(span for line in _inline(cell, Tone.PLAIN) for span in line), (Shown(" │ "), Tone.MUTED)]
    return _joined(spans)


def _inline(node: SyntaxTreeNode, tone: Tone) -> Iterator[Cell]:
    """The lines of a paragraph, as it breaks them itself."""
    spans: list[Span] = []
    for span in _spans(node.children, tone):
        if span == BREAK:
            yield _joined(spans)
            spans = []
        else:
            spans.append(span)
    if spans:
        yield _joined(spans)


def _spans(nodes: Iterable[SyntaxTreeNode], tone: Tone) -> Iterator[Span]:
    """The words of a paragraph; each text is cleaned once more."""
    for node in nodes:
        match node.type:
            case "softbreak" | "hardbreak":
                yield BREAK
            case "code_inline":
                yield _inner(node.content), Tone.KEY
            case "image":
                told = f"(a picture: {node.content or 'no words'}, {node.attrs.get('src', '')})"
                yield text.line(told), Tone.MUTED
            case "link":
                words, address = tuple(_spans(node.children, Tone.KEY)), str(node.attrs.get("href", ""))
                yield from words
                if address and address != "".join(part for part, _ in words):
                    yield Shown(" "), Tone.PLAIN
                    yield text.line(f"({address})"), Tone.MUTED
            case kind if node.children:
                yield from _spans(node.children, _TONES.get(kind, tone))
            case _:
                yield _inner(node.content), tone


def _inner(value: str) -> Shown:
    """A part of a line, its blanks at both ends kept."""
    return Shown(text.whole(value).replace("\n", " "))
