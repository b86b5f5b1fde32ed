"""Custom secrets: a new one, its name and description, its value. Values are written and never read."""

from collections.abc import Iterable

from pydantic import SecretStr

from quarterdeck.client.errors import Outcome, ServiceError
from quarterdeck.client.models.settings import CustomSecret
from quarterdeck.client.secrets import NAME, SecretsResource
from quarterdeck.settings import checks
from quarterdeck.settings.fields import Problem
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.dialogs.sending import SendingDialog
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.settings.line_input import LineInput
from quarterdeck.tui.widgets.settings.member import Member

NAME_RULE = "letters, digits and _; sandboxes get a variable of this name"


class NewSecretDialog(SendingDialog):
    """Create a secret."""

    BLAMED = "name"

    def __init__(self, secrets: SecretsResource) -> None:
        super().__init__(Shown("New secret"))
        self._secrets = secrets

    def members(self) -> Iterable[Member]:
        """Name, value, description."""
        yield Member("name", "Name", LineInput(placeholder="API_TOKEN"), NAME_RULE)
        yield Member("value", "Value", LineInput(placeholder="type or paste it", password=True))
        yield Member("description", "Description", LineInput(placeholder="what it is for"))

    def problems(self) -> Iterable[Problem]:
        """A name that is none, or no value."""
        yield from name_problems(self.typed("name"))
        yield from value_problems(self.typed("value"))

    async def send(self) -> Shown:
        """Create it."""
        name, value = self.typed("name"), SecretStr(self.typed("value"))
        await self._secrets.create(name, value, self.typed("description") or None)
        return text.line(f"The secret {name} is stored.")


class DescribeSecretDialog(SendingDialog):
    """Rename and describe a secret; its value stays."""

    BLAMED = "name"

    def __init__(self, secrets: SecretsResource, secret: CustomSecret) -> None:
        super().__init__(text.line(f"Secret {secret.name}"))
        self._secrets = secrets
        self._secret = secret

    def said(self) -> Iterable[Cell]:
        """What becomes of the value."""
        yield cell(Shown("Its value stays as it is; v gives it a new one."), Tone.MUTED)

    def members(self) -> Iterable[Member]:
        """Name and description."""
        yield Member("name", "Name", LineInput(text.line(self._secret.name)), NAME_RULE)
        yield Member("description", "Description", LineInput(text.line(self._secret.description or "")))

    def problems(self) -> Iterable[Problem]:
        """A new name that is none."""
        return name_problems(self._new_name) if self._new_name != self._secret.name else ()

    async def send(self) -> Shown:
        """Rename and describe it."""
        await self._secrets.update(self._secret.name, new_name=self._new_name, description=self.typed("description"))
        return text.line(f"The secret {self._new_name} is changed.")

    @property
    def _new_name(self) -> str:
        """The name as it stands; one that was not touched is the very one it had."""
        typed = self.typed("name")
        return self._secret.name if typed == text.line(self._secret.name) else typed


class SecretValueDialog(SendingDialog):
    """Give a secret a new value; where a server cannot, it is deleted and created anew."""

    BLAMED = "value"

    def __init__(self, secrets: SecretsResource, secret: CustomSecret, *, in_place: bool) -> None:
        super().__init__(text.line(f"New value of {secret.name}"))
        self._secrets = secrets
        self._secret = secret
        self._in_place = in_place
        self._deleted = False

    def said(self) -> Iterable[Cell]:
        """What a server that cannot change a value makes of it."""
        if not self._in_place:
            yield cell(Shown("This release cannot change a value: the secret is deleted and created anew."), Tone.WARN)
            yield cell(Shown("In between there is none, and a sandbox started then goes without."), Tone.WARN)

    def members(self) -> Iterable[Member]:
        """The value."""
        yield Member("value", "New value", LineInput(placeholder="type or paste it", password=True))

    def problems(self) -> Iterable[Problem]:
        """No value, or a name that the secret could not get again."""
        yield from value_problems(self.typed("value"))
        if not self._in_place and NAME.fullmatch(self._secret.name) is None:
            words = "Its name is none of a variable, so it could not be created anew: rename it first."
            yield Problem("", words, member="value")

    async def send(self) -> Shown:
        """Write the value."""
        name, value = self._secret.name, SecretStr(self.typed("value"))
        if self._in_place:
            await self._secrets.replace_value(name, value)
        else:
            await self._delete_and_create(name, value)
        return text.line(f"The secret {name} has a new value.")

    async def _delete_and_create(self, name: str, value: SecretStr) -> None:
        if not self._deleted:
            await self._secrets.delete(name)
            self._deleted = True
        try:
            await self._secrets.create(name, value, self._secret.description)
        except ServiceError as error:
            advice = f"The old one is deleted: enter tries again to create it. {error.advice}"
            raise ServiceError(error.kind, error.words, advice, outcome=Outcome.UNKNOWN) from error


def name_problems(name: str) -> Iterable[Problem]:
    """What is wrong with the name of a secret."""
    if NAME.fullmatch(name) is None:
        yield Problem("", "A name has letters, digits and _ only, and begins with no digit.", member="name")


def value_problems(value: str) -> Iterable[Problem]:
    """What is wrong with the value of a secret."""
    if not value:
        yield Problem("", "Nothing is typed.", member="value")
    elif checks.is_mask(value):
        yield Problem("", "This is a mask, not a value; type the value itself.", member="value")
