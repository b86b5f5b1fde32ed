"""Edits not yet saved: a value that every change makes anew, so that undo is going back to an older one."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Concatenate, ParamSpec

from pydantic import SecretStr

from quarterdeck.client.models.mcp import McpServer
from quarterdeck.client.models.settings import Settings, SettingsChanges
from quarterdeck.settings import checks, mcp_checks
from quarterdeck.settings.fields import Control, Field, Problem, Unreadable, warning
from quarterdeck.settings.form_fields import CANONICAL, FormFields
from quarterdeck.settings.mcp import Servers

MCP = "mcp_config"
P = ParamSpec("P")
STEPS_KEPT = 200
"""How many changes can be undone."""

Edits = Mapping[str, Any]
"""Field -> its new value, in the order first edited; None unsets it or clears a secret, `Servers` for the MCP list."""

NO_EDITS: Edits = MappingProxyType({})


@dataclass(frozen=True)
class Draft:
    """What is stored (`base`, None when nothing is) and what the user wants changed."""

    base: Settings | None = None
    edits: Edits = field(default_factory=lambda: NO_EDITS)
    past: tuple[Edits, ...] = field(default=(), repr=False)
    future: tuple[Edits, ...] = field(default=(), repr=False)
    fields: FormFields = field(default=CANONICAL, repr=False)
    """The settings there are, on the server they were loaded from."""
    disabled: tuple[McpServer, ...] = field(default=(), repr=False)
    """MCP servers that this machine keeps, and the server does not hold."""
    listed: Servers | None = field(default=None, repr=False, compare=False)
    """The MCP list as it was shown before this record was read."""

    @property
    def edited(self) -> bool:
        """Whether there is anything to save."""
        return bool(self.edits)

    @property
    def count(self) -> int:
        """How many things are edited: fields, and MCP servers one by one."""
        return len(self.edits) - (MCP in self.edits) + len(self.servers.edited)

    def field_at(self, key: str) -> Field:
        """The setting of a key; raises KeyError for an unknown one."""
        return self.fields.by_key[key]

    def with_fields(self, fields: FormFields) -> "Draft":
        """Go by the settings of another server, or of one better known; what is edited stays, even if it has no use."""
        if fields == self.fields:
            return self
        edited = {key for edits in (self.edits, *self.past, *self.future) for key in edits}
        return replace(self, fields=fields.keeping(entry for key, entry in self.fields.by_key.items() if key in edited))

    def was(self, key: str) -> Any:
        """The stored value; where nothing is stored, what a fresh record holds. Secrets are None."""
        entry = self.field_at(key)
        if key == MCP:
            return self.stored_servers
        if entry.secret:
            return None
        return self._record.leaves.get(key, entry.unset_to) if entry.described else getattr(self._record, key, None)

    def value(self, key: str) -> Any:
        """The value after a save; of a secret the new one, None while it is kept or cleared."""
        return self.edits[key] if key in self.edits else self.was(key)

    def stored(self, key: str) -> bool | None:
        """Whether a secret is stored; None when the server does not tell."""
        if self.base is None:
            return False
        stored = getattr(self.base, f"{key}_set", None)
        return stored if isinstance(stored, bool) else None

    def known(self, key: str) -> Any:
        """What can be known of the stored value: of a secret whether there is one, None where that is not told."""
        return self.stored(key) if self.field_at(key).secret else self.was(key)

    @cached_property
    def stored_servers(self) -> Servers:
        """The MCP list as it is stored, and below it what this machine keeps."""
        return Servers.of(self._record.mcp_config, self.disabled, self.listed)

    @property
    def servers(self) -> Servers:
        """The MCP list as it is edited."""
        servers = self.value(MCP)
        return servers if isinstance(servers, Servers) else Servers()

    def set(self, key: str, value: Any) -> "Draft":
        """Give a field a new value; the stored one again ends its edit. A secret's None clears it."""
        return self._step({**self.edits, key: value} if self._differs(key, value) else self._without(key))

    def set_all(self, values: Mapping[str, Any]) -> "Draft":
        """Give several fields new values, as one change."""
        edited = self
        for key, value in values.items():
            edited = edited.set(key, value)
        return self._step(edited.edits)

    def unset(self, key: str) -> "Draft":
        """Make a field not set, set it back to the server's default, or clear a secret."""
        return self.set(key, self.field_at(key).unset_to)

    def revert(self, key: str) -> "Draft":
        """Drop the edit of a field; a secret is kept again."""
        return self._step(self._without(key))

    def discard(self) -> "Draft":
        """Drop all edits."""
        return self._step(NO_EDITS)

    def change_servers(
        self, change: Callable[Concatenate[Servers, P], Servers], *args: P.args, **kwargs: P.kwargs
    ) -> "Draft":
        """Call a method of `Servers` on the MCP list, and take what it makes of it."""
        return self.set(MCP, change(self.servers, *args, **kwargs))

    def undo(self) -> "Draft":
        """Go back by one change."""
        if not self.past:
            return self
        return replace(self, edits=self.past[-1], past=self.past[:-1], future=(self.edits, *self.future))

    def redo(self) -> "Draft":
        """Do the change again that was last undone."""
        if not self.future:
            return self
        return replace(self, edits=self.future[0], past=(*self.past, self.edits), future=self.future[1:])

    @property
    def changes(self) -> SettingsChanges:
        """What a save sends: the edited fields alone. Only for a draft without errors.

        Empty where a save changes nothing but what this machine keeps.
        """
        return {
            key: value.config() if isinstance(value, Servers) else value
            for key, value in self.edits.items()
            if not isinstance(value, Servers) or value.sends
        }

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong, in the order of the form; what is stored already and was not edited only warns."""
        return tuple(_problems_of(self))

    def is_on(self, key: str) -> bool:
        """Whether a setting that others need is on: a switch that is, or a choice other than the usual one."""
        if key not in self.fields.by_key:
            return True
        value = self.value(key)
        return value if isinstance(value, bool) else value not in (None, self.field_at(key).unset_to)

    def off_for(self, key: str) -> Field | None:
        """The first setting that a field needs and that is off."""
        return next((self.field_at(other) for other in self.field_at(key).needs if not self.is_on(other)), None)

    @cached_property
    def _record(self) -> Settings:
        return Settings() if self.base is None else self.base

    def _differs(self, key: str, value: Any) -> bool:
        if isinstance(value, Servers):
            return bool(value.edited)
        if isinstance(value, SecretStr | Unreadable):
            return True
        if self.field_at(key).secret:
            return self.stored(key) is not False
        return not is_same(value, self.was(key))

    def _without(self, key: str) -> Edits:
        return {other: value for other, value in self.edits.items() if other != key}

    def _step(self, edits: Edits) -> "Draft":
        if edits == self.edits:
            return self
        return replace(self, edits=edits, past=(*self.past, self.edits)[-STEPS_KEPT:], future=())


def is_same(one: Any, other: Any) -> bool:
    """Whether two values of a setting are one: servers treat empty text as not set, and on is not 1."""
    one, other = (None if value == "" else value for value in (one, other))
    return bool(one == other) and isinstance(one, bool) is isinstance(other, bool)


def _problems_of(draft: Draft) -> Iterator[Problem]:
    """Each field's problem and all those of the MCP list; what is stored already and was not edited only warns."""
    for entry in draft.fields.fields:
        if entry.control is Control.SERVERS:
            yield from (replace(problem, key=MCP) for problem in mcp_checks.problems(draft.servers))
        elif problem := _problem(draft, entry):
            yield replace(problem, key=entry.key, stops=problem.stops and entry.key in draft.edits)


def _problem(draft: Draft, entry: Field) -> Problem | None:
    value = draft.value(entry.key)
    if value is None or (value == "" and entry.key not in draft.edits):  # servers treat empty text as not set
        return None
    found = sorted(checks.problems(entry, value), key=lambda problem: not problem.stops)
    return found[0] if found else _in_context(draft, entry.key)


def _in_context(draft: Draft, key: str) -> Problem | None:
    """What is odd about a value only beside another one."""
    if key == "llm_base_url" and str(draft.value("llm_model") or "").startswith("openhands/"):
        return warning("Models that begin with openhands/ have an address of their own; leave this not set.")
    if key == "security_analyzer" and key in draft.edits and not draft.value("confirmation_mode"):
        return warning("It has no effect while the agent does not ask before actions.")
    if key == "email_verified" and key in draft.edits:
        return warning("The service sets this itself; a value of yours may confuse it.")
    return None
