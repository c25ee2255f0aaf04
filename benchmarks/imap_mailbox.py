"""A mailbox with mail, each message delivered twice: of Dovecot where it is installed, else of pymap."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import EmailMessage
from pathlib import Path

from tests.support.imap_process import PASSWORD, ImapProcess
from tests.support.ports import free_port, wait_for_port

MOST_OF_PYMAP = 1_000
"""Its time for one more message grows with the messages that it has."""
_SETTINGS = """
base_dir = {folder}/run
state_dir = {folder}/run
log_path = {folder}/log
protocols = imap
ssl = no
disable_plaintext_auth = no
mail_location = maildir:{folder}/mail
first_valid_uid = 1
maildir_very_dirty_syncs = yes
service imap-login {{
  chroot =
  inet_listener imap {{
    address = 127.0.0.1
    port = {port}
  }}
  inet_listener imaps {{
    port = 0
  }}
}}
passdb {{
  driver = static
  args = password={password}
}}
userdb {{
  driver = static
  args = uid=mail gid=mail home={folder}/mail
}}
"""


@contextmanager
def mailbox(count: int) -> Iterator[tuple[int, int]]:
    """Yield the port of the server, and how many different messages its inbox has."""
    if shutil.which("dovecot") is not None and os.geteuid() == 0:
        with tempfile.TemporaryDirectory() as folder, _dovecot(Path(folder), count) as port:
            yield port, count
        return
    server = ImapProcess()
    try:
        count = min(count, MOST_OF_PYMAP)
        server.add(*(message for number in range(count) for message in [_message(number)] * 2))
        yield server.port, count
    finally:
        server.close()


@contextmanager
def _dovecot(folder: Path, count: int) -> Iterator[int]:
    folder.chmod(0o755)
    new = folder / "mail" / "new"
    for name in ("new", "cur", "tmp"):
        (folder / "mail" / name).mkdir(parents=True)
    for number in range(count):
        content = _message(number).as_bytes()
        for delivery in "ab":
            (new / f"1.M{number:06}{delivery}.benchmark").write_bytes(content)
    subprocess.run(["chown", "-R", "mail:mail", folder / "mail"], check=True)
    settings, port = folder / "dovecot.conf", free_port()
    settings.write_text(_SETTINGS.format(folder=folder, port=port, password=PASSWORD))
    with subprocess.Popen(["dovecot", "-F", "-c", settings], stderr=subprocess.DEVNULL) as server:
        try:
            wait_for_port(port)
            yield port
        finally:
            server.send_signal(signal.SIGTERM)


def _message(number: int) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["Subject"] = "bo@example.org", f"Mail {number}"
    message["Message-ID"], message["Date"] = f"<{number}@benchmark.example.org>", "Mon, 30 Nov 2026 10:00:00 +0000"
    message.set_content("Text")
    return message
