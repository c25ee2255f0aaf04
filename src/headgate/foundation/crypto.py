"""Encrypts secrets at rest and signs evidence with the installation's keyring.

Secrets are encrypted with Fernet (AES-128-CBC with HMAC-SHA256). A ciphertext is `hg1.KEYID.FERNET`, so it names its
key.
"""

import hashlib
import hmac
from typing import TYPE_CHECKING, Any, cast

from pydantic import SecretStr

from headgate.foundation.ciphertexts import MARK, key_id_of, prefix_of
from headgate.foundation.errors import Unavailable
from headgate.foundation.keyring import InstallationKey, KeyRing, Purpose, signer_of
from headgate.foundation.signing import Signer

if TYPE_CHECKING:  # imported when the first secret is used; it takes a quarter of the start-up time
    from cryptography.fernet import Fernet


class SecretBox:
    """Encrypts with the current key of a keyring and decrypts with any of its keys."""

    def __init__(self, ring: KeyRing) -> None:
        self._ring = ring
        self._ciphers: dict[str, Fernet] = {}

    def encrypt(self, secret: SecretStr) -> bytes:
        """Return the encrypted secret. Raises `Unavailable` when the current key cannot be read."""
        key = self._ring.current(Purpose.SECRETS)
        return prefix_of(key.id) + self._cipher(key).encrypt(secret.get_secret_value().encode())

    def decrypt(self, token: bytes) -> SecretStr:
        """Return the decrypted secret.

        Raises `KeyMissing` when its key is not on this machine, and `Unavailable` when the key is damaged.
        """
        try:
            if not token.startswith(MARK):
                return self._decrypt_unnamed(token)
            key_id = key_id_of(token)
            content = token[len(prefix_of(key_id)) :]
            return SecretStr(self._cipher(self._ring.get(Purpose.SECRETS, key_id)).decrypt(content).decode())
        except Unavailable:
            raise
        except Exception as error:
            raise Unavailable(
                "A stored secret cannot be decrypted.",
                remedy=(
                    "It is damaged, or was encrypted with another HEADGATE_SECRET_KEY or secret.key: "
                    "set the variable again."
                ),
            ) from error

    def tag(self, purpose: str, text: str) -> str:
        """A tag that only this installation can create: HMAC-SHA256 with a key of this purpose, in hexadecimal."""
        return _tag(self._ring.current(Purpose.SECRETS), purpose, text)

    def is_tag(self, purpose: str, text: str, tag: str) -> bool:
        """Return whether this installation created a tag for this text, with the current key or an earlier one."""
        keys = self._ring.every(Purpose.SECRETS)
        return any(hmac.compare_digest(_tag(key, purpose, text).encode(), tag.encode()) for key in keys)

    def _decrypt_unnamed(self, token: bytes) -> SecretStr:
        """Decrypt a ciphertext of the old format, which does not name its key."""
        for key in self._ring.every(Purpose.SECRETS):
            try:
                return SecretStr(self._cipher(key).decrypt(token).decode())
            except _library().InvalidToken:
                continue
        raise Unavailable(
            "A stored secret cannot be decrypted: it was not encrypted with any key of this machine.",
            remedy="Start with the HEADGATE_SECRET_KEY or secret.key that encrypted it, or set the variable again.",
        )

    def _cipher(self, key: InstallationKey) -> "Fernet":
        cipher = self._ciphers.get(key.id)
        if cipher is None:
            cipher = self._ciphers[key.id] = _fernet(key.material)
        return cipher


class EvidenceSigner:
    """Signs with the current key of a keyring."""

    def __init__(self, ring: KeyRing) -> None:
        self.ring = ring

    def signer(self) -> Signer:
        """The signer of the current key. Raises `Unavailable` when the key cannot be read or created, or is invalid."""
        return signer_of(self.ring.current(Purpose.EVIDENCE).material)


def _tag(key: InstallationKey, purpose: str, text: str) -> str:
    derived = hmac.digest(key.material, f"headgate tag {purpose}".encode(), hashlib.sha256)
    return hmac.new(derived, text.encode(), hashlib.sha256).hexdigest()


def _fernet(key: bytes) -> "Fernet":
    try:
        return cast("Fernet", _library().Fernet(key))
    except ValueError as error:
        raise Unavailable(
            "The secret key is not 32 bytes of URL-safe base64.",
            remedy="Correct HEADGATE_SECRET_KEY, or restore the right secret.key in the data folder.",
        ) from error


def _library() -> Any:  # noqa: ANN401 - a module
    from cryptography import fernet  # noqa: PLC0415 - heavy, see above

    return fernet
