"""Every command, declared once: bindings, key bar, palette and help are all made from these."""

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from textual.binding import Binding, BindingType


class Place(StrEnum):
    """Where a command works; the values are the names of the modes."""

    EVERYWHERE = "everywhere"
    CONVERSATIONS = "conversations"
    SANDBOXES = "sandboxes"
    SETTINGS = "settings"
    CONVERSATION = "conversation"
    """One of them, above the list."""


class Command(NamedTuple):
    """One thing a person can do; `name` is the action of the screen or app that does it."""

    name: str
    keys: str
    label: str
    help: str
    place: Place
    changes_server: bool = False
    """Refused on a read-only connection, with the reason."""
    bar: int = 0
    """Place in the key bar, lowest first and dropped last; 0 keeps it out."""
    row: bool = False
    """About the row under the cursor: it is in its menu."""

    @property
    def key(self) -> str:
        """The first key, as people write it."""
        return shown_key(self.keys.split(",", maxsplit=1)[0])

    @property
    def action(self) -> str:
        """The action a binding runs: it asks the screen for permission first."""
        return f"command('{self.name}')"


_KEY_WORDS = {
    "slash": "/",
    "question_mark": "?",
    "escape": "esc",
    "space": "space",
    "enter": "enter",
    "asterisk": "*",
    "minus": "-",
    "colon": ":",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
}


def shown_key(key: str) -> str:
    """Write a key as the key bar does: `ctrl+s` as `^s`."""
    if key.startswith("ctrl+"):
        return "^" + key.removeprefix("ctrl+")
    return _KEY_WORDS.get(key, key)


_E, _C, _B, _S = Place.EVERYWHERE, Place.CONVERSATIONS, Place.SANDBOXES, Place.SETTINGS
_T = Place.CONVERSATION

EVERYWHERE = (
    Command("conversations", "1", "Conversations", "Show the conversations", _E),
    Command("sandboxes", "2", "Sandboxes", "Show the sandboxes", _E),
    Command("settings", "3", "Settings", "Show the stored settings", _E),
    Command("connect", "c", "Connections", "Switch between servers, or edit them and their keys", _E),
    Command("row_menu", "f2,ctrl+o", "Menu", "Show all that can be done with the row", _E, bar=13),
    Command("refresh", "ctrl+r", "Refresh", "Read everything again now, and put lists in order", _E, bar=80),
    Command("request_log", "L", "Requests", "Show the requests made so far", _E),
    Command("switch_theme", "T", "Light or dark", "Switch between the dark and the light theme", _E),
    Command("redraw", "ctrl+l", "Redraw", "Draw the screen anew, where another program wrote on it", _E),
    Command("command_palette", "colon,ctrl+p", "Commands", "Find a command by its name", _E),
    Command("help", "question_mark", "Help", "Show the keys that work here", _E, bar=1),
    Command("back", "q", "Back", "Go back; from the conversations: quit", _E),
    Command("quit", "ctrl+q,Q", "Quit", "Quit the deck; sandboxes keep running", _E, bar=90),
    Command("suspend_process", "ctrl+z", "Suspend", "Put the deck to sleep until `fg`", _E),
)

CONVERSATIONS = (
    Command("new_conversation", "n", "New", "Create a conversation", _C, changes_server=True, bar=2),
    Command("open", "enter", "Open", "Open the conversation", _C, row=True, bar=3),
    Command("detail", "i", "Detail", "Show everything about the conversation", _C, row=True),
    Command("filter", "slash", "Filter", "Show only rows that match what you type", _C, bar=4),
    Command("statuses", "f", "Statuses", "Choose which states are shown", _C, bar=14),
    Command("show_all", "escape", "Show all", "Forget the filter", _C),
    Command(
        "pause", "p", "Pause", "Pause its sandbox, or those of all marked", _C, changes_server=True, row=True, bar=5
    ),
    Command(
        "resume", "r", "Resume", "Resume its sandbox, or those of all marked", _C, changes_server=True, row=True, bar=6
    ),
    Command("other", "o", "Sandbox", "Go to the sandbox of the conversation", _C, row=True, bar=7),
    Command("open_url", "O", "Open URL", "Open the address of the conversation", _C, row=True),
    Command("notify_me", "w", "Notify", "Notify when it needs you, ends or fails; again: stop", _C, row=True, bar=8),
    Command("copy", "y", "Copy", "Copy the id, the title or all of the conversation", _C, row=True, bar=9),
    Command("rename", "e", "Rename", "Give it another title", _C, changes_server=True, row=True, bar=17),
    Command("trajectory", "E", "Trajectory", "Save all that happened in it to a file", _C, row=True, bar=18),
    Command(
        "retry", "R", "Try again", "Ask again for a start that failed; D: dismiss", _C, changes_server=True, row=True
    ),
    Command(
        "delete", "D", "Delete", "Delete the conversation, or all marked", _C, changes_server=True, row=True, bar=11
    ),
    Command("mark_read", "A", "All read", "Take the + away from every row that is shown", _C, bar=12),
    Command("mark", "space", "Mark", "Mark the row, or unmark it", _C, row=True, bar=10),
    Command("mark_range", "v", "Mark range", "Mark the rows from the last mark to the cursor", _C),
    Command("mark_all", "asterisk", "Mark all", "Mark every row that is shown", _C),
    Command("mark_none", "minus", "Unmark all", "Take all marks away", _C),
    Command(
        "unfold",
        "right",
        "Unfold",
        "Show the sub-conversations of the row, whose number stands before it",
        _C,
        row=True,
    ),
    Command("fold", "left", "Fold", "Fold the sub-conversations away again", _C, row=True),
    Command(
        "no_conversation", "X", "No conversation", "Find sandboxes without conversation, and the other way round", _C
    ),
    Command("bulk_job", "B", "Bulk job", "Show how far the last command for several is", _C),
    Command("sort", "s", "Sort", "Sort by the next column", _C),
    Command("reverse", "S", "Reverse", "Reverse the order", _C),
    Command("columns", "C", "Columns", "Choose the columns and their order", _C, bar=16),
)

SANDBOXES = (
    Command("start", "n", "Start", "Start a sandbox from a spec", _B, changes_server=True, bar=2),
    Command("open", "enter", "Open", "Show everything about the sandbox", _B, row=True, bar=5),
    Command("detail", "i", "Detail", "Show everything about the sandbox", _B, row=True),
    Command("pause", "p", "Pause", "Pause the sandbox, or all marked", _B, changes_server=True, row=True, bar=3),
    Command("resume", "r", "Resume", "Resume the sandbox, or all marked", _B, changes_server=True, row=True, bar=4),
    Command("filter", "slash", "Filter", "Show only rows that match what you type", _B, bar=6),
    Command("statuses", "f", "Statuses", "Choose which statuses are shown", _B, bar=14),
    Command("show_all", "escape", "Show all", "Forget the filter", _B),
    Command("other", "o", "Conversation", "Go to the conversation of the sandbox", _B, row=True, bar=17),
    Command("open_url", "O", "Open URL", "Open the address of the sandbox", _B, row=True),
    Command(
        "notify_me",
        "w",
        "Notify",
        "Notify when its conversation needs you, ends or fails; again: stop",
        _B,
        row=True,
    ),
    Command("copy", "y", "Copy", "Copy the id, the address or all of the sandbox", _B, row=True, bar=8),
    Command(
        "delete",
        "D",
        "Delete",
        "Delete it with its workspace, or all marked",
        _B,
        changes_server=True,
        row=True,
        bar=11,
    ),
    Command("mark", "space", "Mark", "Mark the row, or unmark it", _B, row=True, bar=7),
    Command("mark_range", "v", "Mark range", "Mark the rows from the last mark to the cursor", _B),
    Command("mark_all", "asterisk", "Mark all", "Mark every row that is shown", _B),
    Command("mark_none", "minus", "Unmark all", "Take all marks away", _B),
    Command(
        "quiet_sandboxes", "I", "Quiet sandboxes", "Pause what runs and does nothing", _B, changes_server=True, bar=9
    ),
    Command(
        "no_conversation",
        "X",
        "No conversation",
        "Find sandboxes without conversation, and the other way round",
        _B,
        bar=10,
    ),
    Command("bulk_job", "B", "Bulk job", "Show how far the last command for several is", _B),
    Command("sort", "s", "Sort", "Sort by the next column", _B),
    Command("reverse", "S", "Reverse", "Reverse the order", _B),
    Command("columns", "C", "Columns", "Choose the columns and their order", _B, bar=16),
)

SETTINGS = (
    Command("save", "ctrl+s", "Review & save", "Review the changes and save them", _S, changes_server=True, bar=2),
    Command("edit", "enter", "Edit", "Edit the field or row; escape leaves a field and keeps the edit", _S, bar=3),
    Command("filter", "slash", "Filter", "Show only fields whose name, key or help matches", _S, bar=11),
    Command("revert", "u", "Revert", "Drop the edit of the field or MCP server", _S, bar=6),
    Command("unset", "x", "Not set", "Make the field not set, or clear the secret", _S, bar=7),
    Command("undo", "ctrl+z", "Undo", "Take back the last edit", _S, bar=12),
    Command("redo", "ctrl+y", "Redo", "Do the edit again that was taken back", _S),
    Command("add", "a", "Add", "Add to the list: MCP server, or at once: secret, git token, LLM profile", _S, bar=8),
    Command("delete", "D,d", "Delete", "Delete the MCP server at the next save; in other lists at once", _S, bar=9),
    Command("copy_server", "Y", "Copy as new", "Copy the MCP server as a new one", _S, bar=10),
    Command("copy", "y", "Copy name", "Copy the key of the field; of an MCP server all but its secrets", _S),
    Command("rename", "", "Rename", "Give the LLM profile another name", _S),
    Command("new_value", "", "New value", "Give the secret a new value", _S),
    Command("disable", "", "Disable", "Keep the MCP server on this machine only, or enable it again", _S),
    Command("check", "", "Check", "Try the MCP server's address from here; a command is never run", _S),
    Command("import_servers", "", "Paste JSON", "Add MCP servers from pasted JSON", _S),
    Command("convert", "", "Convert", "Make the MCP server the other one of SSE and HTTP", _S),
    Command("remove_duplicates", "", "Remove duplicates", "Delete MCP servers that are in the list twice", _S),
    Command("check_all", "", "Check all MCP servers", "Try all addresses from this machine", _S),
    Command("copy_servers", "", "Copy all MCP servers", "Copy all MCP servers as JSON, without secrets", _S),
    Command("servers_file", "", "MCP to a file", "Write the MCP server, elsewhere all, as JSON without secrets", _S),
    Command("undo_save", "", "Undo save", "Take back what the last save did, after a review", _S, changes_server=True),
    Command("export", "", "Export", "Write the settings to a file, without secrets", _S),
    Command("import", "", "Import", "Take settings from a file, as edits", _S),
    Command("unsaved_edits", "", "Restore unsaved edits", "Bring back edits that an earlier run could not save", _S),
    Command("back", "escape,q", "Back", "Go back to the conversations", _S),
)

CONVERSATION = (
    Command("message", "m", "Message", "Write a message; ctrl+s sends it", _T, changes_server=True, row=True, bar=2),
    Command("answer", "tab", "Answer", "Go to what the agent asks; y, n and a work only there", _T, row=True, bar=3),
    Command("unfold", "enter", "Unfold", "Show all of the entry, or fold it", _T, row=True, bar=4),
    Command("message_before", "left_square_bracket", "Messages", "Go to your message before; ] to the next", _T, bar=5),
    Command("message_after", "right_square_bracket", "Next message", "Go to your next message", _T),
    Command("failure_before", "left_curly_bracket", "Failures", "Go to the failure before; } to the next", _T, bar=6),
    Command("failure_after", "right_curly_bracket", "Next failure", "Go to the next failure", _T),
    Command("stop", "p", "Pause agent", "Stop the agent", _T, changes_server=True, row=True, bar=7),
    Command("go_on", "r", "Resume", "Resume the agent, or its sandbox", _T, changes_server=True, row=True, bar=8),
    Command("find", "slash", "Find", "Find words in all that has been read; enter finds the one before", _T, bar=9),
    Command("copy", "y", "Copy", "Copy the entry", _T, row=True, bar=10),
    Command("pager", "V", "Pager", "Show the entry in $PAGER", _T, row=True, bar=11),
    Command("send_on", "R", "Send again", "Send again what the agent has not seen", _T, changes_server=True, row=True),
    Command("detail", "i", "Detail", "Show everything about the conversation", _T, row=True),
    Command("ask_always", "", "Ask always", "Ask before every action", _T, changes_server=True, row=True),
    Command("ask_risky", "", "Ask if risky", "Ask before risky actions only", _T, changes_server=True, row=True),
    Command("ask_never", "", "Never ask", "Do everything without asking", _T, changes_server=True, row=True),
    Command("back", "escape,q", "Back", "Go back to the list", _T, bar=14),
    Command("conversations", "1", "Conversations", "Go back to the list", _T),
)

_BY_PLACE = {_E: EVERYWHERE, _C: CONVERSATIONS, _B: SANDBOXES, _S: SETTINGS, _T: CONVERSATION}


def commands_at(place: Place) -> tuple[Command, ...]:
    """The commands that work at a place, its own first."""
    own = _BY_PLACE[place] if place is not Place.EVERYWHERE else ()
    return own + EVERYWHERE


def command_at(place: Place, name: str) -> Command:
    """The command of that name at a place; raises KeyError where there is none."""
    for command in commands_at(place):
        if command.name == name:
            return command
    raise KeyError(name)


def key_bar_hints(place: Place, works: Callable[[Command], bool]) -> tuple[tuple[str, str, bool], ...]:
    """Key, label and whether it works, of the commands in the key bar of a place, the most needed first."""
    shown = sorted((command for command in commands_at(place) if command.bar), key=lambda command: command.bar)
    return tuple((command.key, command.label, works(command)) for command in shown)


def bindings_at(place: Place) -> list[BindingType]:
    """Bindings of a screen: its own commands, and those from everywhere whose keys it does not use itself."""
    taken: set[str] = set()
    bindings: list[BindingType] = []
    for command in commands_at(place):
        free = [key for key in command.keys.split(",") if key and key not in taken]
        taken.update(free)
        if free:
            bindings.append(Binding(",".join(free), command.action, command.label, show=False))
    return bindings
