"""The passphrase of a backup, from a file and never from the command line."""

import sys
from pathlib import Path

from headgate.entrypoints.backups.archive import is_sealed
from headgate.foundation.errors import Invalid
from headgate.foundation.settings import Settings

LEAST_CHARACTERS = 12


def read_passphrase(settings: Settings, given: Path | None, *, backup: Path | None = None) -> str | None:
    """The passphrase, without the line end after it; None where there is none. Raises `Invalid`.

    Args:
        settings: Name the file where none is given.
        given: The file; `-` for standard input.
        backup: A backup to read. One that is not encrypted needs no passphrase.
    """
    path = given or settings.backup.passphrase_file
    if path is None or (backup is not None and backup.is_file() and not is_sealed(backup)):
        return None
    try:
        content = sys.stdin.read() if str(path) == "-" else path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(f"The passphrase cannot be read from {path}.", remedy="Check the file.") from error
    passphrase = content.rstrip("\r\n")
    if backup is None and len(passphrase) < LEAST_CHARACTERS:
        raise Invalid(f"The passphrase has fewer than {LEAST_CHARACTERS} characters.", remedy="Use a longer one.")
    return passphrase
