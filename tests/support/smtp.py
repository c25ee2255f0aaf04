"""A real SMTP server on loopback, and what it received."""

import email
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import EmailMessage
from email.policy import default
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, Envelope

from tests.support.ports import free_port

USER, PASSWORD = "ann", "smtp-password"


class Postbox:
    """Accepts messages, except those for `refused@` and `later@`."""

    def __init__(self) -> None:
        self.received: list[Envelope] = []
        self.port = free_port()

    async def handle_RCPT(  # noqa: N802 - as the library calls it
        self, server: Any, session: Any, envelope: Envelope, address: str, options: Any
    ) -> str:
        """Accept a recipient."""
        if address.startswith("refused@"):
            return "550 no such mailbox"
        if address.startswith("later@"):
            return "450 try again"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Envelope) -> str:  # noqa: N802
        """Accept a message."""
        self.received.append(envelope)
        return "250 accepted"

    def message(self, number: int = -1) -> EmailMessage:
        """A message that was received."""
        content = self.received[number].content
        assert isinstance(content, bytes)
        message = email.message_from_bytes(content, policy=default)
        assert isinstance(message, EmailMessage)
        return message

    @property
    def fields(self) -> dict[str, Any]:
        """Fields of a connection to it."""
        sender = "Ann <ann@example.org>"
        return {"host": "127.0.0.1", "port": self.port, "security": "none", "user": USER, "sender": sender}


@contextmanager
def smtp_server() -> Iterator[Postbox]:
    """A server for the time of a test."""
    postbox = Postbox()
    controller = Controller(
        postbox, hostname="127.0.0.1", port=postbox.port, authenticator=_authenticate, auth_require_tls=False
    )
    controller.start()
    try:
        yield postbox
    finally:
        controller.stop()


def _authenticate(server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
    return AuthResult(success=(data.login, data.password) == (USER.encode(), PASSWORD.encode()), handled=False)
