"""The installation's keys, each in a 0600 file or the environment: one encrypts secrets at rest, one signs evidence.

Secrets are encrypted with Fernet (AES-128-CBC with HMAC-SHA256).
"""

import base64
import binascii
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import SecretStr

from headgate.foundation.errors import Unavailable
from headgate.foundation.ids import new_id
from headgate.foundation.private_files import EVIDENCE_KEY_FILE, KEY_FILE, data_folder
from headgate.foundation.settings import Settings

if TYPE_CHECKING:  # imported when the first secret is touched; it costs a quarter of the start-up time
    from cryptography.fernet import Fernet


class SecretBox:
    """Encrypts and decrypts text with the installation's key."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._fernet: Fernet | None = None

    def encrypt(self, secret: SecretStr) -> bytes:
        """The secret as a token that is safe to store."""
        return self._cipher().encrypt(secret.get_secret_value().encode())

    def decrypt(self, token: bytes) -> SecretStr:
        """The secret again. Raises `Unavailable` when the key is not the one that encrypted it."""
        try:
            return SecretStr(self._cipher().decrypt(token).decode())
        except Exception as error:
            raise Unavailable(
                "A stored secret cannot be decrypted.",
                remedy="Start with the HEADGATE_SECRET_KEY or secret.key that stored it, or set the variable again.",
            ) from error

    def _cipher(self) -> "Fernet":
        if self._fernet is None:
            self._fernet = _fernet(
                _load_key(self._settings.data_dir / KEY_FILE, self._settings.secret_key, "HEADGATE_SECRET_KEY")
            )
        return self._fernet


class EvidenceSeed:
    """The private key that signs evidence: 32 bytes, made when they are first needed."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def read(self) -> bytes:
        """The bytes. Raises `Unavailable` when they can be neither read nor made, or are not base64."""
        text = _load_key(
            self._settings.data_dir / EVIDENCE_KEY_FILE, self._settings.evidence_key, "HEADGATE_EVIDENCE_KEY"
        )
        try:
            return base64.urlsafe_b64decode(text)
        except (binascii.Error, ValueError) as error:
            raise Unavailable(
                "The key that signs evidence is not 32 bytes of URL-safe base64.",
                remedy="Correct HEADGATE_EVIDENCE_KEY, or the file evidence.key in the data folder.",
            ) from error


def _fernet(key: bytes) -> "Fernet":
    from cryptography.fernet import Fernet  # noqa: PLC0415 - heavy, see above

    try:
        return Fernet(key)
    except ValueError as error:
        raise Unavailable(
            "The secret key is not 32 bytes of URL-safe base64.",
            remedy="Correct HEADGATE_SECRET_KEY, or put the right secret.key back into the data folder.",
        ) from error


def _load_key(path: Path, given: SecretStr | None, variable: str) -> bytes:
    """The key that was set, or that of the file, which is made when there is none."""
    if given is not None:
        return given.get_secret_value().encode()
    if not path.exists():
        _create_key(path, variable)
    try:
        return path.read_bytes().strip()
    except OSError as error:
        raise Unavailable(
            f"The key cannot be read from {path}: {error.strerror}.", remedy="Check the file's permissions."
        ) from error


def _create_key(path: Path, variable: str) -> None:
    """Write a new key, readable by the owner only, whole or not at all, without ever replacing one."""
    part = path.with_name(f"{path.name}.{new_id()}")
    try:
        data_folder(path.parent)
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(base64.urlsafe_b64encode(os.urandom(32)))
        with suppress(FileExistsError):  # another process was first: its key is the one
            os.link(part, path)
    except OSError as error:
        raise Unavailable(
            f"The key cannot be written to {path}: {error.strerror}.",
            remedy=f"Check HEADGATE_DATA_DIR and its permissions, or set {variable}.",
        ) from error
    finally:
        with suppress(OSError):  # it was never written
            part.unlink()
