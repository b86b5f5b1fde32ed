"""Words for what goes wrong on the way to a server and back, and what it means for a request that changes something."""

import socket
import ssl

from quarterdeck.client.calls import Call
from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.fault import Fault, WireError
from quarterdeck.client.limits import Limits
from quarterdeck.client.retry import LOST, NEVER_OPENED

_AGAIN = "Read again, or check that the server is up."
_CERTIFICATE = {
    9: "it is not valid yet",
    10: "it has expired",
    18: "it is signed by itself",
    19: "a part of its chain is signed by itself",
    20: "its issuer is not known here",
    21: "its issuer is not known here",
    62: "it belongs to another host",
    64: "it belongs to another address",
}
"""OpenSSL's verification results that people meet."""


def failure(
    kind: ErrorKind, call: Call, host: str, cause: BaseException | None = None, seconds: float = 0
) -> ServiceError:
    """Make the error for a request that got no answer; `seconds` is the time that ran out, where one did.

    The text of the cause is never used: it may repeat the key or the address (reliability.md fact 21).
    """
    words, advice = _words(kind, host, cause, seconds)
    outcome = (
        Outcome.NOT_SENT if kind in NEVER_OPENED or kind in (ErrorKind.TLS, ErrorKind.LOCAL) else Outcome.NOT_APPLIED
    )
    return ServiceError(kind, words, advice, request=str(call), outcome=outcome)


def _words(kind: ErrorKind, host: str, cause: BaseException | None, seconds: float) -> tuple[str, str]:
    match kind:
        case ErrorKind.DNS:
            return f"No machine is known by the name of {host}.", "Check the address, or the network of this machine."
        case ErrorKind.UNREACHABLE:
            return f"Cannot connect to {host}.", "Check that the server runs and that the address is right."
        case ErrorKind.CONNECT_TIMEOUT:
            return f"{host} did not take a connection within {seconds:g} s.", _AGAIN
        case ErrorKind.TLS:
            return _tls_words(host, cause), "Check the address, or have the certificate put right."
        case ErrorKind.STALLED:
            return f"{host} gave no complete answer within {seconds:g} s.", _AGAIN
        case ErrorKind.WRONG_API:
            return f"{host} does not answer in HTTP.", "Check the port and whether it is http:// or https://."
        case ErrorKind.LOCAL:
            return "This request cannot be written as HTTP.", "Check the address of this connection."
        case _:
            return f"The connection to {host} broke in the middle.", "Read again; check the port if it stays so."


def _tls_words(host: str, cause: BaseException | None) -> str:
    if isinstance(cause, ssl.SSLCertVerificationError):
        reason = _CERTIFICATE.get(cause.verify_code, "it does not pass the check")
        return f"The certificate of {host} is not trusted: {reason}."
    return f"No secure connection to {host}: it may not speak TLS at this port."


def wire_failure(error: WireError, call: Call, host: str, limits: Limits) -> ServiceError:
    """Make the error for an exchange that came to nothing on its way."""
    read, cause = call.seconds or limits.read, _root_cause(error)
    match error.fault:
        case Fault.CONNECT_TIMEOUT:
            return failure(ErrorKind.CONNECT_TIMEOUT, call, host, seconds=limits.connect)
        case Fault.POOL_TIMEOUT:
            return failure(ErrorKind.CONNECT_TIMEOUT, call, host, seconds=limits.pool)
        case Fault.READ_TIMEOUT | Fault.WRITE_TIMEOUT:
            return failure(ErrorKind.STALLED, call, host, seconds=read)
        case Fault.CONNECT:
            return failure(_connect_kind(cause), call, host, cause)
        case Fault.BAD_REQUEST:
            return failure(ErrorKind.LOCAL, call, host)
        case Fault.NO_HTTP:
            return failure(ErrorKind.WRONG_API, call, host)
        case _:
            return failure(ErrorKind.BROKEN, call, host)


def _connect_kind(cause: BaseException | None) -> ErrorKind:
    """Tell a name that is not known and a broken TLS handshake from a server that cannot be reached.

    A name that cannot be one, with a part of more than 63 letters for instance, fails before anybody is asked.
    """
    if isinstance(cause, socket.gaierror | UnicodeError):
        return ErrorKind.DNS
    return ErrorKind.TLS if isinstance(cause, ssl.SSLError) else ErrorKind.UNREACHABLE


def _root_cause(error: BaseException) -> BaseException | None:
    """What an exception goes back to, through however many layers."""
    cause = error.__cause__ or error.__context__
    return cause if cause is None else _root_cause(cause) or cause


def final(call: Call, error: ServiceError) -> ServiceError:
    """The error that is raised when nothing more is tried: a write whose answer is lost has an unknown outcome."""
    failed = error.kind is ErrorKind.SERVER and error.outcome is Outcome.UNKNOWN
    lost = failed or error.kind in LOST or error.kind is ErrorKind.TOO_LARGE
    no_http = error.kind is ErrorKind.WRONG_API and error.status is None
    if call.method == "GET" or not (lost or no_http):
        return error
    return ServiceError(
        ErrorKind.UNKNOWN_OUTCOME,
        f"Unknown whether it happened. {error.words}",
        "Look whether it did before doing it again.",
        request=error.request,
        status=error.status,
        retry_after=error.retry_after,
        outcome=Outcome.UNKNOWN,
        problems=error.problems,
    )
