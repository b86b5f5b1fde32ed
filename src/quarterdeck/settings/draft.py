"""Unsaved edits: an immutable value that every change replaces, so that undo returns to an older one."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Concatenate, ParamSpec

from pydantic import SecretStr

from quarterdeck.client.models.mcp import McpServer
from quarterdeck.client.models.settings import Settings, SettingsChanges
from quarterdeck.client.nested import AGENT_KIND, CONDENSER_KIND
from quarterdeck.settings import checks
from quarterdeck.settings.fields import Control, Field, Problem, Unreadable, warning
from quarterdeck.settings.form_fields import CANONICAL, FormFields
from quarterdeck.settings.mcp import Servers

MCP = "mcp_config"
TOKENS = "secrets_store"
"""The field for git tokens and custom secrets."""
P = ParamSpec("P")
STEPS_KEPT = 200
"""How many changes can be undone."""

Edits = Mapping[str, Any]
"""New values by field, in the order first edited; None unsets or clears, `Servers` is the MCP list."""


@dataclass(frozen=True)
class Draft:
    """What is stored (`base`, None if nothing is) and what the user wants changed."""

    base: Settings | None = None
    edits: Edits = field(default_factory=dict)
    past: tuple[Edits, ...] = field(default=(), repr=False)
    future: tuple[Edits, ...] = field(default=(), repr=False)
    fields: FormFields = field(default=CANONICAL, repr=False)
    """The settings that exist on the server they were loaded from."""
    disabled: tuple[McpServer, ...] = field(default=(), repr=False)
    """MCP servers that this machine keeps and the server does not have."""
    listed: Servers | None = field(default=None, repr=False, compare=False)
    """The stored MCP list, if its rows have their ids from an earlier reading."""

    @property
    def edited(self) -> bool:
        """Whether there is anything to save."""
        return bool(self.edits)

    @property
    def count(self) -> int:
        """The number of edits: fields, and MCP servers one by one."""
        return len(self.edits) - (MCP in self.edits) + len(self.servers.edited)

    @property
    def tokens(self) -> Mapping[str, str | None]:
        """The host of each git provider that has a stored token."""
        return (self.base.provider_tokens_set if self.base is not None else None) or {}

    def field_at(self, key: str) -> Field:
        """Return the setting of a key; raises KeyError for an unknown one."""
        return self.fields.by_key[key]

    def has(self, entry: Field) -> bool:
        """Whether this server has a setting, as far as is known before the first save.

        Of those that it describes, a record has only those of its kind of agent and of condenser.
        """
        if entry.absent or self.base is None:
            return not entry.absent
        if entry.described:
            return entry.key in self.base.leaves or AGENT_KIND in self.edits or CONDENSER_KIND in self.edits
        return not entry.extra or hasattr(self.base, entry.key)

    def with_fields(self, fields: FormFields) -> "Draft":
        """Return the draft for other settings, because the server is another or better known; all edits are kept."""
        if fields == self.fields:
            return self
        edited = {key for edits in (self.edits, *self.past, *self.future) for key in edits}
        return replace(self, fields=fields.keeping(entry for key, entry in self.fields.by_key.items() if key in edited))

    def was(self, key: str) -> Any:
        """Return the stored value, or the default of a new record if nothing is stored. Secrets are None."""
        entry = self.field_at(key)
        if key == MCP:
            return self.stored_servers
        if entry.secret:
            return None
        return self._record.leaves.get(key, entry.unset_to) if entry.described else getattr(self._record, key, None)

    def value(self, key: str) -> Any:
        """Return the value after a save; for a secret the new one, None if it is kept or cleared."""
        return self.edits[key] if key in self.edits else self.was(key)

    def stored(self, key: str) -> bool | None:
        """Whether a secret is stored; None if the server does not tell."""
        if self.base is None:
            return False
        stored = getattr(self.base, f"{key}_set", None)
        return stored if isinstance(stored, bool) else None

    def known(self, key: str) -> Any:
        """Return what is known of the stored value: for a secret whether there is one, None if that is unknown."""
        return self.stored(key) if self.field_at(key).secret else self.was(key)

    @cached_property
    def stored_servers(self) -> Servers:
        """The stored MCP list, followed by what this machine keeps."""
        return self.listed or Servers.of(self._record.mcp_config, self.disabled)

    @property
    def servers(self) -> Servers:
        """The edited MCP list."""
        servers = self.value(MCP)
        return servers if isinstance(servers, Servers) else Servers()

    def set(self, key: str, value: Any) -> "Draft":
        """Set a field to a new value; the stored value ends its edit. None clears a secret."""
        return self._step({**self.edits, key: value} if self._differs(key, value) else self._without(key))

    def set_all(self, values: Mapping[str, Any]) -> "Draft":
        """Set several fields, as one change."""
        edited = self
        for key, value in values.items():
            edited = edited.set(key, value)
        return self._step(edited.edits)

    def unset(self, key: str) -> "Draft":
        """Unset a field, reset it to the server's default, or clear a secret."""
        return self.set(key, self.field_at(key).unset_to)

    def revert(self, key: str, row: int | None = None) -> "Draft":
        """Discard the edit of a field, or of the MCP server at `row` alone."""
        if row is not None:
            return self.change_servers(Servers.restore, row)
        return self._step(self._without(key))

    def discard(self) -> "Draft":
        """Discard all edits."""
        return self._step({})

    def change_servers(
        self, change: Callable[Concatenate[Servers, P], Servers], *args: P.args, **kwargs: P.kwargs
    ) -> "Draft":
        """Apply a method of `Servers` to the MCP list."""
        return self.set(MCP, change(self.servers, *args, **kwargs))

    def undo(self) -> "Draft":
        """Undo the last change; there must be one in `past`."""
        return replace(self, edits=self.past[-1], past=self.past[:-1], future=(self.edits, *self.future))

    def redo(self) -> "Draft":
        """Redo the change that was undone last; there must be one in `future`."""
        return replace(self, edits=self.future[0], past=(*self.past, self.edits), future=self.future[1:])

    @property
    def changes(self) -> SettingsChanges:
        """What a save sends: only the edited fields. Only for a draft without errors.

        Empty if a save changes only what this machine keeps.
        """
        return {
            key: value.config() if isinstance(value, Servers) else value
            for key, value in self.edits.items()
            if not isinstance(value, Servers) or value.sends
        }

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong, in the order of the form; for stored values that were not edited, only warnings."""
        return tuple(_problems_of(self))

    def is_on(self, key: str) -> bool:
        """Whether a setting that others need is on: a switch, or a choice other than the default."""
        if key not in self.fields.by_key:
            return True
        value = self.value(key)
        return value if isinstance(value, bool) else value not in (None, self.field_at(key).unset_to)

    def off_for(self, key: str) -> Field | None:
        """Return the first setting that a field needs and that is off."""
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
        past = (*self.past, self.edits)[-STEPS_KEPT:]
        return replace(self, edits=edits, past=past, future=(), listed=self.stored_servers)


def is_same(one: Any, other: Any) -> bool:
    """Whether two values of a setting are the same: servers treat an empty text as unset, and True is not 1."""
    one, other = (None if value == "" else value for value in (one, other))
    return bool(one == other) and isinstance(one, bool) is isinstance(other, bool)


def _problems_of(draft: Draft) -> Iterator[Problem]:
    """Yield the problem of each field and all those of the MCP list; unedited stored values only warn."""
    for entry in draft.fields.fields:
        if entry.control is Control.SERVERS:
            yield from (replace(problem, key=MCP) for problem in draft.servers.problems)
        elif problem := _problem(draft, entry):
            yield replace(problem, key=entry.key, stops=problem.stops and entry.key in draft.edits)


def _problem(draft: Draft, entry: Field) -> Problem | None:
    value = draft.value(entry.key)
    if value is None or (value == "" and entry.key not in draft.edits):  # servers treat empty text as not set
        return None
    found = sorted(checks.problems(entry, value), key=lambda problem: not problem.stops)
    return found[0] if found else _in_context(draft, entry.key)


def _in_context(draft: Draft, key: str) -> Problem | None:
    """Return a problem of a value in combination with other values."""
    if key == "llm_base_url" and str(draft.value("llm_model") or "").startswith("openhands/"):
        return warning("Models that begin with openhands/ have an address of their own; leave this not set.")
    if key == "security_analyzer" and key in draft.edits and not draft.value("confirmation_mode"):
        return warning("It has no effect while the agent does not ask before actions.")
    if key == "email_verified" and key in draft.edits:
        return warning("The service sets this itself; a value of yours may confuse it.")
    return None
