"""The arguments of `quarterdeck`."""

import re
from argparse import SUPPRESS, ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, NoReturn, TypeVar

from quarterdeck import __version__

MOST_SIMULATED = 1_000_000
AddParser = Callable[..., ArgumentParser]
"""`add_parser` of a group of commands."""
N = TypeVar("N", int, float)

_DESCRIPTION = """\
A terminal deck for agent conversation services: settings, conversations and sandboxes, live.
Without a command it opens the deck: on --url or QUARTERDECK_URL, else on the last connection,
else on the embedded local service."""

_EPILOG = """\
A key is never an argument. QUARTERDECK_API_KEY goes to --url or QUARTERDECK_URL; the key of a
connection is in the variable that it names, in the system keyring or in a private file. Exit
status: 0 done and verified, 1 failed, 2 wrong usage, 3 a filter let nothing through; those of one
conversation have more, which `quarterdeck conversations wait --help` names."""

_CHANGE_EPILOG = """\
What a filter lets through and cannot be changed is left out and does not count; what is named by
its id does. Exit status: 0 all done and verified by reading, 1 some were not, 2 wrong usage,
3 nothing matched."""


_CONVERSATION_EPILOG = """\
Exit status: 0 what was asked for came (an agent that was stopped or rests is done; the word says it),
1 it could not be found out, 2 wrong usage, 4 it needs somebody, 5 error, stuck, not found or its
sandbox is gone or in error (with --for needs-you also: paused), 6 the time is up."""


class CommandLine:
    """The parsed command line; options that were not given have the values here."""

    prog: str = "quarterdeck"
    """The words that name the command."""
    command: str = "deck.run"
    """The module of `quarterdeck.cli` and its function that run the command."""
    url: str | None = None
    connection: str | None = None
    read_only: bool = False
    quiet: bool = False
    mouse: bool = True
    json: bool = False
    all: bool = False
    dry_run: bool = False
    topic: str | None = None

    port: int = 3000
    simulate: int | None = None
    churn: float | None = None
    faults: bool = False
    assignments: Sequence[tuple[str, str]] = ()
    accept_losses: bool = False
    file: str | None = None
    spec: str | None = None
    verb: str = ""
    ids: Sequence[str] = ()
    filter: str | None = None
    yes: bool = False
    message: str | None = None
    title: str | None = None
    repository: str | None = None
    branch: str | None = None
    sandbox: str | None = None
    id: str = ""
    text: str | None = None
    accept: str | None = None
    reject: str | None = None
    follow: bool = False
    wait: bool = False
    wanted: str = "done"
    timeout: float | None = None


_WITHOUT_SERVER = ("serve", "help", "connections")
_KEY_OPTION = re.compile(r"--?(api-?)?(key|token|secret|password)(=.*)?", re.DOTALL)


class _Parser(ArgumentParser):
    """A parser that sets only given options, and whose errors contain no value, which may be a key."""

    def __init__(self, prog: str | None = None, **options: Any) -> None:
        super().__init__(prog, argument_default=SUPPRESS, allow_abbrev=False, **options)
        self.set_defaults(prog=self.prog)

    def error(self, message: str) -> NoReturn:
        # A word of a few small letters is no key.
        message = re.sub(r"^argument \w+: invalid choice: '([a-z]{1,15})' \(", r"there is no \1 here (", message)
        message = re.sub(r"invalid choice: .*? \(choose", "no such choice (choose", message, flags=re.DOTALL)
        self.exit(2, f"quarterdeck: {message}; `{self.prog} --help` says more\n")


def usage() -> str:
    """Return the text of `--help`."""
    return _parser().format_help()


def parse(words: Sequence[str]) -> CommandLine:
    """Parse a command line; if it is invalid, ends the process with status 2 and a line on standard error."""
    parser = _parser()
    if any(_KEY_OPTION.fullmatch(word) for word in words):
        parser.error("a key is never an argument, for others can see it")
    found, rest = parser.parse_known_args(words, CommandLine())
    name, parser.prog = found.command.partition(".")[0], found.prog
    if name in _WITHOUT_SERVER and (found.url is not None or found.connection is not None or found.read_only):
        parser.error(f"{name} takes no --url, --connection or --read-only")
    if name != "deck" and (found.quiet or not found.mouse):
        parser.error("--quiet and --no-mouse are options of the deck, not of a command")
    if found.url is not None and found.connection is not None:  # one before and one after the command
        parser.error("argument --connection: not allowed with argument --url")
    options = [word.partition("=")[0] for word in rest if word.startswith("-") and word != "-"]
    if found.verb and not any(word.startswith("--") for word in options):
        found.ids = [*found.ids, *rest]  # an id may begin with a dash
    elif found.command == "conversation.send" and found.text is None and len(rest) == 1 and not options:
        found.text = rest[0]  # argparse leaves it over where an option stands before it
    elif rest:
        parser.error(f"unrecognized arguments: {' '.join(options)}" if options else "too many words")
    return found


def _parser() -> ArgumentParser:
    top = _Parser("quarterdeck", description=_DESCRIPTION, epilog=_EPILOG, parents=[_where()])
    quiet = "no bell and no notice from the deck about conversations that are watched"
    top.add_argument("--quiet", action="store_true", help=quiet)
    mouse = "leave the mouse to the terminal, which selects text with it"
    top.add_argument("--no-mouse", action="store_false", dest="mouse", help=mouse)
    top.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    add = top.add_subparsers(title="commands", metavar="COMMAND", prog="quarterdeck").add_parser
    _serve(add)
    _command(add, "doctor", "doctor.run", "say what answers, what it can do and whether the key is right")
    _settings(_group(add, "settings", "show, change, export or import the stored settings"))
    _sandboxes(_group(add, "sandboxes", "list, start, pause, resume or delete sandboxes"))
    _conversations(_group(add, "conversations", "list, create, read, answer, stop or wait for conversations"))
    _connections(add)
    _help(add)
    return top


@cache
def _where() -> ArgumentParser:
    """Return a parser for the options that choose a server; absent ones keep the values before the command."""
    where = _Parser(add_help=False)
    one = where.add_mutually_exclusive_group()
    one.add_argument("--url", metavar="URL", help="address of the server, like http://127.0.0.1:3000")
    one.add_argument("--connection", metavar="NAME", help="a connection of connections.toml, or: local")
    where.add_argument("--read-only", action="store_true", help="change nothing on the server")
    return where


def _command(add: AddParser, name: str, command: str, help_text: str, *, of_server: bool = True) -> ArgumentParser:
    added = add(name, help=help_text, description=help_text, parents=[_where()] if of_server else [])
    added.add_argument("--json", action="store_true", help="print JSON")
    added.set_defaults(command=command)
    return added


def _group(add: AddParser, name: str, help_text: str, *, of_server: bool = True) -> AddParser:
    group = add(name, help=help_text, description=help_text, parents=[_where()] if of_server else [])
    return group.add_subparsers(
        title="commands", metavar="COMMAND", required=True, prog=f"quarterdeck {name}"
    ).add_parser


def _number(read: Callable[[str], N], most: float, words: str, least: float = 0) -> Callable[[str], N]:
    """Return a converter for a number from `least` to `most`; `words` say what is wanted."""

    def number(text: str) -> N:
        with suppress(ValueError):
            if least <= (value := read(text)) <= most:
                return value
        raise ArgumentTypeError(words)

    return number


def _named(text: str) -> str:
    """Return what names something, which a blank text does not: a script may have left its variable empty."""
    if text.strip():
        return text
    raise ArgumentTypeError("it is empty")


def _assignment(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if equals and key.replace(".", "_").isidentifier():
        return key, value
    raise ArgumentTypeError("write KEY=VALUE, for example language=en")


def _serve(add: AddParser) -> None:
    text = "run the local service on 127.0.0.1; its key comes from QUARTERDECK_API_KEY, or is made and printed once"
    serve = add("serve", help="run the local service on 127.0.0.1", description=text)
    port = _number(int, 65535, "a port is a number from 0 (any free one) to 65535")
    serve.add_argument("--port", type=port, metavar="N", help="port to listen on (default 3000)")
    count = _number(int, MOST_SIMULATED, f"a whole number from 1 to {MOST_SIMULATED:,}", least=1)
    text = "pretend N sandboxes and the conversations in them, in memory, for trying; what is kept is left alone"
    serve.add_argument("--simulate", type=count, metavar="N", help=text)
    percent = _number(float, 100, "a number from 0 (nothing changes) to 100")
    text = "how many of the simulated sandboxes change by themselves in a second (default 1)"
    serve.add_argument("--churn", type=percent, metavar="PERCENT", help=text)
    text = "let some things go wrong in the simulation: pauses that fail or do nothing, sandboxes gone, one refusal"
    serve.add_argument("--faults", action="store_true", help=text)
    serve.set_defaults(command="serve.run")


def _filter(command: ArgumentParser, tokens: str = "status:paused, quiet>30m, cost>1, !no-conversation") -> None:
    words = f"only what it lets through: words, or tokens such as {tokens}"
    command.add_argument("--filter", metavar="FILTER", help=words)


def _dry_run(command: ArgumentParser) -> None:
    command.add_argument("--dry-run", action="store_true", help="say what would be done, and do nothing")


def _settings(add: AddParser) -> None:
    show = _command(add, "show", "settings.show", "show the stored settings; secrets only as stored or not")
    show.add_argument("--all", action="store_true", help="the less used ones of this server too")
    change = _command(add, "set", "settings_change.change", "change settings, then read them back")
    _saving(change)
    text = "KEY= unsets it, KEY=- reads standard input (the only way for a secret); keys: quarterdeck help settings"
    change.add_argument("assignments", nargs="+", type=_assignment, metavar="KEY=VALUE", help=text)
    write = _command(add, "export", "settings.export", "write the settings, without secrets, as TOML or JSON")
    text = "a new file (.toml or .json); default: standard output"
    write.add_argument("file", nargs="?", type=_named, metavar="FILE", help=text)
    take = _command(add, "import", "settings_change.take", "take the settings of an export; stored secrets stay")
    take.add_argument("file", type=_named, metavar="FILE", help="an export; - reads standard input")
    _saving(take)
    text = "take back the last save that was made from this machine; a second undo brings it back"
    _saving(_command(add, "undo", "settings_change.undo", text))


def _saving(change: ArgumentParser) -> None:
    _dry_run(change)
    change.add_argument("--accept-losses", action="store_true", help="save even where something stored is lost")


def _sandboxes(add: AddParser) -> None:
    listing = _command(add, "list", "sandboxes.show", "list the sandboxes")
    _filter(listing)
    text, watching = "print a line for each change of a state, until ended", "sandboxes_watch.run"
    listing.add_argument("--watch", action="store_const", dest="command", const=watching, help=text)
    _command(add, "specs", "sandboxes.specs", "list what a sandbox can be started from; the first is the default")
    start = _command(add, "start", "sandboxes.start", "start a sandbox")
    text = "id of a spec (default: the server's first)"
    start.add_argument("spec", nargs="?", type=_named, metavar="SPEC", help=text)
    _dry_run(start)
    for verb, ends in (("pause", "are paused"), ("resume", "are up"), ("delete", "are gone")):
        change = _command(add, verb, "sandboxes_change.run", f"{verb} sandboxes, and read them until they {ends}")
        text = "id of a sandbox; with --filter only what passes both"
        change.add_argument("ids", nargs="*", type=_named, metavar="ID", help=text)
        change.set_defaults(verb=verb)
        _filter(change)
        _dry_run(change)
        if verb == "delete":
            change.add_argument("--yes", action="store_true", help="without it nothing is deleted")
        change.epilog = _CHANGE_EPILOG


def _conversations(add: AddParser) -> None:
    listing = _command(add, "list", "conversations.show", "list the conversations, newest first")
    _filter(listing, "status:finished, updated>2d, cost>1, !no-sandbox")
    create = _command(add, "create", "conversations.create", "create a conversation and follow it until it is ready")
    create.add_argument("--message", metavar="TEXT", help="first message; - reads it from standard input")
    create.add_argument("--title", metavar="TEXT", help="its title (default: one that the server makes)")
    create.add_argument("--repository", metavar="OWNER/NAME", help="repository to work in")
    create.add_argument("--branch", type=_named, metavar="NAME", help="branch of the repository")
    create.add_argument("--sandbox", type=_named, metavar="ID", help="use this sandbox instead of a new one")
    _one_conversation(add)


def _conversation(add: AddParser, name: str, help_text: str) -> ArgumentParser:
    command = _command(add, name, f"conversation.{name}", help_text)
    command.add_argument("id", type=_named, metavar="ID", help="id of a conversation")
    command.epilog = _CONVERSATION_EPILOG
    return command


def _one_conversation(add: AddParser) -> None:
    show = _conversation(add, "show", "print what happened, an event a line")
    show.add_argument("--follow", action="store_true", help="go on with what happens, until ended")
    send = _conversation(add, "send", "send a message; nothing is sent to an agent that waits for an answer")
    send.add_argument("text", nargs="?", metavar="TEXT", help="the message; - reads it from standard input")
    text = "let the agent do just these actions that it asks about; TEXT goes first"
    send.add_argument("--accept", metavar="ID,...", help=text)
    send.add_argument("--reject", metavar="REASON", help="refuse what it asks about, and say why")
    send.add_argument("--wait", action="store_true", help="then wait until it is done or needs somebody")
    wait = _conversation(add, "wait", "wait until the agent is done or needs somebody")
    text = "done (default), or needs-you: until it asks, however often it rests before"
    wait.add_argument("--for", dest="wanted", choices=("done", "needs-you"), help=text)
    seconds = _number(float, 1e9, "a number of seconds")
    for command in (send, wait):
        command.add_argument("--timeout", type=seconds, metavar="S", help="seconds to wait at most")
    _conversation(add, "stop", "stop the agent, and wait until it has stopped")


def _connections(add: AddParser) -> None:
    text = "list the connections of connections.toml, and where the key of each is"
    below = _group(add, "connections", text, of_server=False)
    _command(below, "list", "connections.show", text, of_server=False)


def _help(add: AddParser) -> None:
    text = "print this, or a reference: help keys, help settings, help filters"
    group = add("help", help=text, description="print the usage, or a reference")
    text = "every key of the deck, every setting and which servers have it, or what a filter can ask for"
    topics = ("keys", "settings", "filters")
    group.add_argument("topic", nargs="?", default=None, choices=topics, help=text)
    for option in ("--url", "--connection"):  # known only to be refused: what follows one is no topic
        group.add_argument(option, help=SUPPRESS)
    group.set_defaults(command="help.run")
