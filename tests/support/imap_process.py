"""A real IMAP server (pymap) with one empty mailbox, in a separate process."""

import imaplib
import subprocess
import sys
import time
from email.message import EmailMessage
from pathlib import Path

from tests.support.ports import free_port, wait_for_port

USER, PASSWORD = "ann", "imap-password"


class ImapProcess:
    """Listens on loopback from its creation to `close`."""

    def __init__(self) -> None:
        self.port = free_port()
        program = Path(sys.executable).with_name("pymap")
        self._process = subprocess.Popen(
            [program, "--host", "127.0.0.1", "--port", str(self.port), "--no-tls", "--no-service", "admin", "dict",
             "--demo-data", "--demo-user", USER, "--demo-password", PASSWORD],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        wait_for_port(self.port)
        self.empty()  # of the messages that its demonstration has

    def empty(self) -> None:
        """Delete the messages in the inbox."""
        with self._client() as client:
            client.select("INBOX")
            client.store("1:*", "+FLAGS", "\\Deleted")
            client.expunge()

    def _client(self) -> imaplib.IMAP4:
        client = imaplib.IMAP4("127.0.0.1", self.port, 10)
        client.login(USER, PASSWORD)
        return client

    def add(self, *messages: EmailMessage | bytes, folder: str = "INBOX") -> None:
        """Deliver messages."""
        with self._client() as client:
            for message in messages:
                content = message if isinstance(message, bytes) else message.as_bytes()
                status, answer = client.append(folder, "", imaplib.Time2Internaldate(time.time()), content)
                assert status == "OK", answer

    def flags(self) -> list[str]:
        """The flags of the messages in the inbox."""
        with self._client() as client:
            client.select("INBOX", readonly=True)
            return [part.decode() for part in client.fetch("1:*", "(FLAGS)")[1] if isinstance(part, bytes)]

    def close(self) -> None:
        """End the process."""
        self._process.terminate()
        self._process.wait(10)
