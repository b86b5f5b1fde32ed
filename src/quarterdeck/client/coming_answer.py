"""The answers that come over one connection: llhttp, by way of httptools, knows what their bytes mean."""

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from quarterdeck.client.fault import Fault, WireError

LONGEST_HEAD = 100 * 1024
"""Bytes of a head, of what follows a body or of the size of a chunk, that never comes to an end."""
SWITCHING = 101


class ComingAnswer:
    """One answer after another: `begin` each, `feed` it what comes, and `end` it where nothing more will.

    What httptools calls is named `on_…`.
    """

    def __init__(self) -> None:
        self._parser = HttpResponseParser(self)
        # A line may end without its carriage return (RFC 9112 section 2.2).
        self._parser.set_dangerous_leniencies(lenient_optional_cr_before_lf=True)
        self.begin()

    def begin(self) -> None:
        """Get ready for the next one."""
        self.status: int | None = None
        """Of three digits; None until the whole head is there."""
        self.headers: list[tuple[bytes, bytes]] = []
        self.fault: WireError | None = None
        self.complete = False
        self._pieces: list[bytes] = []
        self._is_http = False
        self._silence = 0
        """Bytes since the last that said something."""
        self._may_follow = False
        """Whether another exchange may follow on this connection."""

    @property
    def leaves_connection(self) -> bool:
        """Whether it is over, and nothing speaks against another exchange behind it."""
        return self.complete and self._may_follow

    def take_body(self) -> list[bytes]:
        """What came of the body since the last time."""
        pieces, self._pieces = self._pieces, []
        return pieces

    def feed(self, data: bytes) -> None:
        """Take in what came; whatever is behind the end of the answer is left, and its connection with it."""
        if self.complete:
            self._may_follow = False
            return
        self._silence += len(data)
        try:
            self._parser.feed_data(data)
        except HttpParserUpgrade:
            self._fail(Fault.BAD_ANSWER, "it goes on in another protocol")
        except HttpParserError as error:
            self._fail(Fault.BAD_ANSWER if self._is_http else Fault.NO_HTTP, str(error))
        else:
            if self._silence > LONGEST_HEAD:
                self._fail(Fault.NO_HTTP, "a head without end")

    def end(self) -> None:
        """Note that nothing more comes: that is how a body ends whose length nobody said."""
        if self.status is not None and not self._says_its_length:
            self.complete = True
        else:
            self._fail(Fault.BAD_ANSWER, "it stops in the middle")

    @property
    def _says_its_length(self) -> bool:
        return any(name.lower() in (b"content-length", b"transfer-encoding") for name, _ in self.headers)

    def _fail(self, fault: Fault, text: str) -> None:
        if self.complete:
            self._may_follow = False
        else:
            self.fault = WireError(fault, text)

    # What the parser finds

    def on_message_begin(self) -> None:
        """An answer begins; behind the one that was asked for there should be none."""
        self._may_follow = False

    def on_status(self, _: bytes) -> None:
        """The first line is one of HTTP."""
        self._is_http = True

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header; what follows a body is not one."""
        if self.status is None:
            self.headers.append((name, value.strip()))

    def on_headers_complete(self) -> None:
        """A head is whole: that of the answer, or words before it."""
        status = self._parser.get_status_code()
        if self.complete:
            return
        if status >= 200:
            self.status, self._silence = status, 0
        elif status != SWITCHING:
            self.headers.clear()

    def on_body(self, piece: bytes) -> None:
        """A piece of the body."""
        if not self.complete:
            self._pieces.append(piece)
            self._silence = 0

    def on_message_complete(self) -> None:
        """The answer is over, unless these were words before it."""
        if self.status is not None and not self.complete:
            self.complete = True
            self._may_follow = self._parser.should_keep_alive()
