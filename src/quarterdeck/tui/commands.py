"""Every command, declared once: bindings, key bar, palette and help are all generated from these."""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from math import inf
from typing import NamedTuple

from textual.binding import Binding, BindingType


class Place(StrEnum):
    """Where a command works; the values are the names of the modes."""

    EVERYWHERE = "everywhere"
    CONVERSATIONS = "conversations"
    SANDBOXES = "sandboxes"
    SETTINGS = "settings"
    CONVERSATION = "conversation"
    """One conversation, above the list."""


class Command(NamedTuple):
    """One thing a person can do; `name` is the name of the action on the screen, a helper or the app."""

    name: str
    keys: str
    label: str
    help: str
    changes: bool = False
    """Whether it changes the server; on a read-only connection it is refused with the reason."""
    row: bool = False
    """Whether it concerns the row under the cursor and appears in its menu."""
    bar: int = 0
    """Position in the key bar: lower ones come first and are dropped last; 0 means not in the bar."""
    rare: bool = False
    """Whether the key bar leaves it out where it does not work, instead of dimming it."""

    @property
    def key(self) -> str:
        """The first key, as it is shown to people."""
        return shown_key(self.keys.split(",", maxsplit=1)[0])

    @property
    def action(self) -> str:
        """The action of the key binding, which first asks the screen whether the command is allowed."""
        return f"command('{self.name}')"


_KEY_WORDS = {
    "slash": "/",
    "question_mark": "?",
    "escape": "esc",
    "asterisk": "*",
    "minus": "-",
    "colon": ":",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
}


def shown_key(key: str) -> str:
    """Return a key as the key bar shows it: `ctrl+s` as `^s`."""
    if key.startswith("ctrl+"):
        return "^" + key.removeprefix("ctrl+")
    return _KEY_WORDS.get(key, key)


_NAMES = {shown: key for key, shown in _KEY_WORDS.items()} | {"↑": "up", "↓": "down", "→": "right"}


def named_key(shown: str) -> str:
    """Return Textual's name of a key as the key bar shows it, of several that of the last: `^s` becomes `ctrl+s`."""
    key = shown.split()[-1]
    return f"ctrl+{key[1:]}" if key.startswith("^") else _NAMES.get(key, key)


MOVING = {
    "down,j": "move(1)",
    "up,k": "move(-1)",
    "pagedown": "page(1.0)",
    "pageup": "page(-1.0)",
    "ctrl+d": "page(0.5)",
    "ctrl+u": "page(-0.5)",
    "home,g": "first",
    "end,G": "last",
}
"""The keys for moving in a table, a log or the text of a dialog."""


def bindings(actions: Mapping[str, str], *, priority: bool = False) -> list[BindingType]:
    """Return the bindings of keys to actions; the deck says itself what they do."""
    return [Binding(keys, action, show=False, priority=priority) for keys, action in actions.items()]


EVERYWHERE = (
    Command("conversations", "1", "Conversations", "Show the conversations"),
    Command("sandboxes", "2", "Sandboxes", "Show the sandboxes"),
    Command("settings", "3", "Settings", "Show the stored settings"),
    Command("connect", "c", "Connections", "Switch between servers, or edit them and their keys"),
    Command("row_menu", "f2,ctrl+o", "Menu", "Show all that can be done with the row", bar=20),
    Command("refresh", "ctrl+r", "Refresh", "Read everything again now, and put lists in order", bar=80),
    Command("request_log", "L", "Requests", "Show the requests made so far"),
    Command("switch_theme", "T", "Light or dark", "Switch between the dark and the light theme"),
    Command("redraw", "ctrl+l", "Redraw", "Draw the screen anew, where another program wrote on it"),
    Command("command_palette", "colon,ctrl+p", "Commands", "Find a command by its name"),
    Command("help", "question_mark", "Help", "Show the keys that work here", bar=1),
    Command("back", "q", "Back", "Go back; from the conversations: quit"),
    Command("quit", "ctrl+q,Q", "Quit", "Quit the deck; sandboxes keep running", bar=90),
    Command("suspend_process", "ctrl+z", "Suspend", "Suspend the deck until `fg`; not in the settings"),
)

_LISTS = (
    Command("filter", "slash", "Filter", "Show only rows that match what you type", bar=6),
    Command("statuses", "f", "Statuses", "Choose which statuses are shown", bar=21),
    Command("show_all", "escape", "Show all", "Forget the filter"),
    Command("mark", "space", "Mark", "Mark the row, or unmark it", row=True, bar=12),
    Command("mark_range", "v", "Mark range", "Mark the rows from the last mark to the cursor"),
    Command("mark_all", "asterisk", "Mark all", "Mark every row that is shown"),
    Command("mark_none", "minus", "Unmark all", "Remove all marks"),
    Command("bulk_job", "B", "Bulk job", "Show how far the last command for several is"),
    Command("sort", "s", "Sort", "Sort by the next column"),
    Command("reverse", "S", "Reverse", "Reverse the order"),
    Command("columns", "C", "Columns", "Choose the columns and their order", bar=22),
)
_UNLINKED = "Find sandboxes without conversation, and the other way round"

COMMANDS: dict[Place, tuple[Command, ...]] = {
    Place.EVERYWHERE: EVERYWHERE,
    Place.CONVERSATIONS: (
        Command("new_conversation", "n", "New", "Create a conversation", changes=True, bar=2),
        Command("open", "enter", "Open", "Open the conversation; of a start, show all about it", row=True, bar=3),
        Command("detail", "i", "Detail", "Show everything about the conversation", row=True),
        Command("pause", "p", "Pause", "Pause its sandbox, or those of all marked", changes=True, row=True, bar=7),
        Command("resume", "r", "Resume", "Resume its sandbox, or those of all marked", changes=True, row=True, bar=8),
        Command("other", "o", "Sandbox", "Go to the sandbox of the conversation", row=True, bar=9),
        Command("open_url", "O", "Open URL", "Open the address of the conversation", row=True),
        Command("notify_me", "w", "Notify", "Notify when it needs you, ends or fails; again: stop", row=True, bar=10),
        Command("copy", "y", "Copy", "Copy the id, the title or all of the conversation", row=True, bar=11),
        Command("rename", "e", "Rename", "Give it another title", changes=True, row=True, bar=23),
        Command("trajectory", "E", "Trajectory", "Save all that happened in it to a file", row=True, bar=24),
        Command(
            "retry", "R", "Retry", "Ask again for a failed start; D: dismiss", changes=True, row=True, bar=4, rare=True
        ),
        Command("delete", "D", "Delete", "Delete the conversation, or all marked", changes=True, row=True, bar=13),
        Command("mark_read", "A", "All read", "Take the + away from every row that is shown", bar=14),
        Command("unfold", "right", "Unfold", "Show the sub-conversations, whose number stands before it", row=True),
        Command("fold", "left", "Fold", "Fold the sub-conversations away again", row=True),
        Command("no_conversation", "X", "No conversation", _UNLINKED),
        *_LISTS,
    ),
    Place.SANDBOXES: (
        Command("start", "n", "Start", "Start a sandbox from a spec", changes=True, bar=2),
        Command("pause", "p", "Pause", "Pause the sandbox, or all marked", changes=True, row=True, bar=3),
        Command("resume", "r", "Resume", "Resume the sandbox, or all marked", changes=True, row=True, bar=4),
        Command("open", "enter", "Open", "Show everything about the sandbox", row=True, bar=5),
        Command("detail", "i", "Detail", "Show everything about the sandbox", row=True),
        Command("other", "o", "Conversation", "Go to the conversation of the sandbox", row=True, bar=23),
        Command("open_url", "O", "Open URL", "Open the address of the sandbox", row=True),
        Command(
            "notify_me", "w", "Notify", "Notify when its conversation needs you, ends or fails; again: stop", row=True
        ),
        Command("copy", "y", "Copy", "Copy the id, the address or all of the sandbox", row=True, bar=13),
        Command("delete", "D", "Delete", "Delete it with its workspace, or all marked", changes=True, row=True, bar=16),
        Command("quiet_sandboxes", "I", "Quiet sandboxes", "Pause what runs and does nothing", changes=True, bar=14),
        Command("no_conversation", "X", "No conversation", _UNLINKED, bar=15),
        *_LISTS,
    ),
    Place.SETTINGS: (
        Command("save", "ctrl+s", "Review & save", "Review the changes and save them", changes=True, bar=2),
        Command("edit", "enter", "Edit", "Edit the field or row; escape keeps the edit", changes=True, bar=3),
        Command("detail", "i", "Detail", "Show all that is known of the field or row"),
        Command("filter", "slash", "Filter", "Show only fields whose name, key or help matches", bar=11),
        Command("revert", "u", "Revert", "Drop the edit of the field or MCP server", bar=6),
        Command("unset", "x", "Not set", "Unset the field, or clear the secret", changes=True, bar=7),
        Command("undo", "ctrl+z", "Undo", "Take back the last edit", bar=12),
        Command("redo", "ctrl+y", "Redo", "Do the edit again that was taken back"),
        Command("add", "a", "Add", "Add to the list; all but MCP servers at once", changes=True, bar=8),
        Command("delete", "D,d", "Delete", "Delete it at once; an MCP server at the save", changes=True, bar=9),
        Command("copy_server", "Y", "Copy as new", "Copy the MCP server as a new one", changes=True, bar=10),
        Command("copy", "y", "Copy name", "Copy the name of the field, or the MCP server without secrets"),
        Command("rename", "", "Rename", "Give the LLM profile another name", changes=True),
        Command("new_value", "", "New value", "Give the secret a new value", changes=True),
        Command("disable", "", "Disable", "Keep the MCP server here only, or enable it", changes=True),
        Command("check", "", "Check", "Try the server's address; no command is run"),
        Command("import_servers", "", "Paste JSON", "Add MCP servers from pasted JSON", changes=True),
        Command("convert", "", "Convert", "Make the MCP server the other one of SSE and HTTP", changes=True),
        Command("remove_duplicates", "", "Remove duplicates", "Delete MCP servers that are listed twice", changes=True),
        Command("check_all", "", "Check all MCP", "Try the addresses of all MCP servers from this machine"),
        Command("copy_servers", "", "Copy all MCP", "Copy all MCP servers as JSON, without secrets"),
        Command("servers_file", "", "MCP to a file", "Write the MCP server, elsewhere all, as JSON without secrets"),
        Command("undo_save", "", "Undo save", "Take back what the last save did, after a review", changes=True),
        Command("export", "", "Export", "Write the settings to a file, without secrets"),
        Command("import", "", "Import", "Take settings from a file, as edits", changes=True),
        Command("unsaved_edits", "", "Restore edits", "Bring back edits that were left behind", changes=True),
        Command("back", "escape,q", "Back", "Go back to the conversations"),
    ),
    Place.CONVERSATION: (
        Command("message", "m", "Message", "Write a message; ctrl+s sends it", changes=True, row=True, bar=2),
        Command("answer", "tab", "Answer", "Go to what the agent asks; y, n and a work only there", row=True, bar=3),
        Command("stop", "p", "Pause agent", "Pause the agent", changes=True, row=True, bar=4),
        Command("unfold", "enter", "Unfold", "Show all of the entry, or fold it", row=True, bar=5),
        Command("message_before", "left_square_bracket", "Messages", "Go to your message before; ] to the next", bar=6),
        Command("message_after", "right_square_bracket", "Next message", "Go to your next message"),
        Command("failure_before", "left_curly_bracket", "Failures", "Go to the failure before; } to the next", bar=7),
        Command("failure_after", "right_curly_bracket", "Next failure", "Go to the next failure"),
        Command("go_on", "r", "Resume", "Resume the agent, or its sandbox", changes=True, row=True, bar=4),
        Command("find", "slash", "Find", "Find words in all that has been read; enter finds the one before", bar=9),
        Command("copy", "y", "Copy", "Copy the entry", row=True, bar=10),
        Command("pager", "V", "Pager", "Show the entry in $PAGER", row=True, bar=11),
        Command("send_on", "R", "Send again", "Send again what it has not seen", changes=True, row=True, bar=2),
        Command("detail", "i", "Detail", "Show everything about the conversation", row=True),
        Command("ask_always", "", "Ask always", "Ask before every action", changes=True, row=True),
        Command("ask_risky", "", "Ask if risky", "Ask before risky actions only", changes=True, row=True),
        Command("ask_never", "", "Never ask", "Do everything without asking", changes=True, row=True),
        Command("back", "escape,q", "Back", "Go back to the list", bar=21),
        Command("conversations", "1", "Conversations", "Go back to the list"),
    ),
}
"""The commands of each place, in addition to those that work everywhere."""


def commands_at(place: Place) -> tuple[Command, ...]:
    """Return the commands that work at a place, its own first and in place of general ones of the same name."""
    own = {command.name for command in COMMANDS[place]}
    return COMMANDS[place] + tuple(command for command in EVERYWHERE if command.name not in own)


def command_at(place: Place, name: str) -> Command:
    """Return the command with that name at a place; raises StopIteration if there is none."""
    return next(command for command in commands_at(place) if command.name == name)


def most_needed_first(place: Place) -> Sequence[Command]:
    """Return the commands that work at a place, first those in the key bar."""
    return sorted(commands_at(place), key=lambda command: command.bar or inf)


def key_bar_hints(place: Place, works: Callable[[Command], bool]) -> tuple[tuple[str, str, bool], ...]:
    """Return key, label and whether it works, for each command in the key bar."""
    found = ((command, works(command)) for command in most_needed_first(place) if command.bar)
    return tuple((command.key, command.label, ok) for command, ok in found if ok or not command.rare)


def bindings_at(place: Place) -> list[BindingType]:
    """Return the key bindings of a screen: its own, and the general ones whose keys it does not use itself."""
    taken: set[str] = set()
    bindings: list[BindingType] = []
    for command in commands_at(place):
        free = [key for key in command.keys.split(",") if key and key not in taken]
        taken.update(free)
        if free:
            bindings.append(Binding(",".join(free), command.action, command.label, show=False))
    return bindings
