"""Markdown as lines: its text is made safe before it is parsed, and each parsed text is made safe once more.

Entities and references can restore characters that were removed, so nothing from the parser is painted unchecked.
"""

from collections.abc import Iterable, Iterator

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Span, Tone, cell
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.strips import cell_length, wrap

_PARSER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
_TONES = {"strong": Tone.STRONG, "em": Tone.EDITED, "s": Tone.MUTED}
BAR: Span = (Shown("│ "), Tone.MUTED)
BETWEEN: Span = (Shown(" │ "), Tone.MUTED)
NARROWEST = 8
"""Minimum cells of a text, however deeply it is indented."""


def plain_lines(value: Shown, width: int, tone: Tone = Tone.PLAIN) -> list[Cell]:
    """Return text unchanged, with long lines wrapped."""
    return [line for each in value.split("\n") for line in wrap(((Shown(each), tone),), width)]


def markdown_lines(value: str, width: int) -> list[Cell]:
    """Return Markdown laid out and wrapped, with a blank line between blocks; links show their address.

    What is nested too deeply, as by a thousand asterisks on both sides of a word, is laid out as plain text.
    """
    lines: list[Cell] = []
    try:
        for block in SyntaxTreeNode(_PARSER.parse(text.whole(value))).children:
            lines += [(), *_block(block, width)] if lines else _block(block, width)
    except RecursionError:
        return plain_lines(text.whole(value), width)
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
            code = plain_lines(text.whole(node.content.rstrip("\n")), width - len(BAR[0]))
            return [(BAR, *line) for line in code]
        case "hr":
            return [cell("─" * 12, Tone.MUTED)]
        case "table":
            return list(_table(node, width))
        case kind:
            return wrap(tuple(_spans(node.children, Tone.STRONG if kind == "heading" else Tone.PLAIN)), width)


def _behind(first: str, rest: str, node: SyntaxTreeNode, width: int) -> list[Cell]:
    """Return the content of a list item or quote, with its sign before it."""
    inside = [line for child in node.children for line in _block(child, width - len(rest))] or [()]
    return [((Shown(rest if number else first), Tone.MUTED), *line) for number, line in enumerate(inside)]


def _table(table: SyntaxTreeNode, width: int) -> Iterator[Cell]:
    """Yield the rows of a table with a bar after each cell, in columns if these fit."""
    rows = [
        [tuple(_spans(each.children, Tone.PLAIN)) for each in row.children]
        for part in table.children
        for row in part.children
    ]
    widths = [max(map(cell_length, column)) for column in zip(*rows, strict=True)]  # the parser evens the rows out
    padded = sum(widths) + len(BETWEEN[0]) * len(widths) + len(BAR[0]) <= width
    for row in rows:
        spans: list[Span] = [BAR]
        for told, most in zip(row, widths, strict=True):
            blank = Shown(" " * (most - cell_length(told)) if padded else "")
            spans += [*told, (blank, Tone.PLAIN), BETWEEN]
        yield from wrap(tuple(spans), width)


def _spans(nodes: Iterable[SyntaxTreeNode], tone: Tone) -> Iterator[Span]:
    """Yield the words of a paragraph; each text is made safe once more."""
    for node in nodes:
        match node.type:
            case "softbreak" | "hardbreak":
                yield Shown("\n"), tone
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
    """Return a part of a line, with the spaces at both ends kept."""
    return Shown(text.whole(value).replace("\n", " "))
