"""Expecting a call to fail for a named reason."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError


@contextmanager
def refused(kind: ErrorKind, *, unsent: bool = False) -> Iterator[None]:
    """Expect a ServiceError of this kind, with `unsent` one for a request that never left."""
    with pytest.raises(ServiceError) as caught:
        yield
    assert caught.value.kind is kind, f"{caught.value.kind}: {caught.value.words}"
    assert not unsent or caught.value.outcome is Outcome.NOT_SENT
