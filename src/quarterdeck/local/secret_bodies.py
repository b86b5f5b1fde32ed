"""What is accepted of secrets and tokens (contract d)."""

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel

from quarterdeck.client.models.enums import GitProvider
from quarterdeck.local.bodies import ProviderToken, Text
from quarterdeck.local.open_body import Secret

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _check_name(name: str) -> str:
    if not _VARIABLE.fullmatch(name):
        raise ValueError("a name has letters, digits and _, and begins with no digit")
    return name


VariableName = Annotated[Text, AfterValidator(_check_name)]
"""What release 1.11 takes as the name of a secret; earlier ones take anything."""


class DescribedBody(BaseModel):
    """Name and description of a secret; a value beside them is ignored."""

    name: Text
    description: Text | None = None


class SecretBody(DescribedBody):
    """A secret."""

    value: Secret


class NestedDescribedBody(DescribedBody):
    """Name and description of a secret of release 1.11."""

    name: VariableName


class NestedSecretBody(SecretBody):
    """A secret of release 1.11."""

    name: VariableName


class TokensBody(BaseModel):
    """Tokens by git provider."""

    provider_tokens: dict[GitProvider, ProviderToken] = {}

    def tokens(self) -> dict[str, dict[str, Any]]:
        """Them in clear, as they are stored."""
        return {provider.value: token.model_dump(mode="json") for provider, token in self.provider_tokens.items()}
