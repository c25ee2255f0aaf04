"""The installation's keyring: for each purpose the first key and those added by rotations, one private file each.

The first key is set in the environment, or is created in the data folder on first use. Every other key is a file
`PURPOSE-ID.key` (mode 0600) in the key folder, which machines without a shared data folder copy or mount. The current
key is recorded in the database, not in the files, so that every process agrees (`features/keyring`).
"""

import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pydantic import SecretStr

from headgate.foundation.ciphertexts import ID_CHARACTERS
from headgate.foundation.errors import Unavailable
from headgate.foundation.key_files import is_key, new_key, read_key, write_key
from headgate.foundation.private_files import EVIDENCE_KEY_FILE, KEY_FILE, KEYS_FOLDER, data_folder, private_folder
from headgate.foundation.settings import Settings
from headgate.foundation.signing import Signer


class Purpose(StrEnum):
    """The purpose of a key."""

    SECRETS = "secrets"
    EVIDENCE = "evidence"


@dataclass(frozen=True, slots=True, repr=False)
class InstallationKey:
    """A key of the installation. Its representation never contains the key material."""

    purpose: Purpose
    id: str
    material: bytes
    """32 bytes in URL-safe base64."""

    def __repr__(self) -> str:
        return f"InstallationKey({self.purpose.value}, {self.id})"


class KeyMissing(Unavailable):
    """A required key cannot be read by this process."""

    code = "key_missing"

    def __init__(self, purpose: Purpose, key_id: str, folder: Path) -> None:
        first = _FIRST[purpose]
        super().__init__(
            f"The {purpose.value} key {key_id} is missing on this machine.",
            remedy=(
                f"Copy {purpose.value}-{key_id}.key into {folder} from a machine or backup that has it, "
                f"or start with the original {first.variable} or {first.file}."
            ),
            key_id=key_id,
        )


@dataclass(frozen=True, slots=True)
class _First:
    """Location of the first key of a purpose."""

    variable: str
    file: str
    id_of: Callable[[bytes], str]


def secrets_key_id(material: bytes) -> str:
    """Return 16 hexadecimal digits that identify a key and reveal nothing else about it."""
    return hashlib.sha256(b"headgate secrets key\0" + material).hexdigest()[:ID_CHARACTERS]


def evidence_key_id(material: bytes) -> str:
    """Return the key id used in signatures: that of the public key. Raises `Unavailable` for an invalid key."""
    return signer_of(material).key.key_id


def signer_of(material: bytes) -> Signer:
    """Return the signer of a key. Raises `Unavailable` when it is not 32 bytes of base64."""
    decoded = is_key(material)
    if decoded is None:
        raise Unavailable(
            "The key that signs evidence is not 32 bytes of URL-safe base64.",
            remedy="Correct HEADGATE_EVIDENCE_KEY, or the file evidence.key in the data folder.",
        )
    return Signer(decoded)


_FIRST: Mapping[Purpose, _First] = {
    Purpose.SECRETS: _First("HEADGATE_SECRET_KEY", KEY_FILE, secrets_key_id),
    Purpose.EVIDENCE: _First("HEADGATE_EVIDENCE_KEY", EVIDENCE_KEY_FILE, evidence_key_id),
}


class KeyRing:
    """The keys that this process can read, and the current key of each purpose.

    Args:
        settings: Locations of the first keys and the key folder.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._keys: dict[tuple[Purpose, str], InstallationKey] = {}
        self._first: dict[Purpose, str] = {}
        self._current: Mapping[Purpose, str] | None = None

    @property
    def folder(self) -> Path:
        """The folder of added keys."""
        return self._settings.keys_dir or self._settings.data_dir / KEYS_FOLDER

    def use(self, current: Mapping[Purpose, str]) -> None:
        """Set the current keys; purposes that are not named use their first key."""
        self._current = dict(current)

    def current(self, purpose: Purpose) -> InstallationKey:
        """The current key. Raises `KeyMissing`, or `Unavailable` when the first one cannot be read or created."""
        if self._current is None:
            raise RuntimeError("a key ring must know the current keys of the database before it is written")
        key_id = self._current.get(purpose)
        return self.get(purpose, key_id) if key_id is not None else self.first(purpose)

    def get(self, purpose: Purpose, key_id: str) -> InstallationKey:
        """Return a key by its id. Raises `KeyMissing`."""
        key = self._find(purpose, key_id)
        if key is None:
            raise KeyMissing(purpose, key_id, self.folder)
        return key

    def has(self, purpose: Purpose, key_id: str) -> bool:
        """Return whether this process can read a key. A key with a damaged file counts as missing."""
        try:
            return self._find(purpose, key_id) is not None
        except Unavailable:
            return False

    def first(self, purpose: Purpose) -> InstallationKey:
        """Return the first key; create it when there is none. Raises `Unavailable`."""
        cached_key = self._first.get(purpose)
        if cached_key is None:
            first = _FIRST[purpose]
            path = self._settings.data_dir / first.file
            configured_key = self._given(purpose)
            if configured_key is None and not path.exists():
                write_key(data_folder(path.parent) / path.name, new_key(), first.variable)
            material = configured_key if configured_key is not None else read_key(path)
            cached_key = self._first[purpose] = first.id_of(material)
            self._keys[purpose, cached_key] = InstallationKey(purpose, cached_key, material)
        return self._keys[purpose, cached_key]

    def every(self, purpose: Purpose) -> list[InstallationKey]:
        """Return every readable key: ciphertexts of the old format may belong to any of them."""
        names = [path.name for path in sorted(self.folder.glob(f"{purpose.value}-*.key"))]
        ids = [name.removeprefix(f"{purpose.value}-").removesuffix(".key") for name in names]
        return [*self._stored_first(purpose), *(self.get(purpose, key_id) for key_id in ids)]

    def add(self, purpose: Purpose) -> InstallationKey:
        """Create a new key in the key folder; it is not current yet. Raises `Unavailable`."""
        material = new_key()
        key = InstallationKey(purpose, _FIRST[purpose].id_of(material), material)
        path = self._path(purpose, key.id)
        try:
            private_folder(path.parent)
        except OSError as error:
            raise Unavailable(
                f"The folder of keys {path.parent} cannot be created: {error.strerror}.",
                remedy="Check HEADGATE_KEYS_DIR, or rotate on a machine that can write to it.",
            ) from error
        write_key(path, material, "HEADGATE_KEYS_DIR")
        self._keys[purpose, key.id] = key
        return key

    def destroy(self, purpose: Purpose, key_id: str) -> bool:
        """Delete a key's file from this machine; return whether this process can still read it from the environment."""
        self._keys.pop((purpose, key_id), None)
        paths = [self._path(purpose, key_id)]
        first = next((key for key in self._stored_first(purpose, environment=False) if key.id == key_id), None)
        if first is not None:
            paths.append(self._settings.data_dir / _FIRST[purpose].file)
        self._first.pop(purpose, None)
        for path in paths:
            with suppress(OSError):  # it is not here, or mounted read-only: `headgate keyring list` shows what remains
                path.unlink()
        self._keys.pop((purpose, key_id), None)
        return self.has(purpose, key_id)

    def _find(self, purpose: Purpose, key_id: str) -> InstallationKey | None:
        cached_key = self._keys.get((purpose, key_id))
        if cached_key is not None:
            return cached_key
        path = self._path(purpose, key_id)
        if key_id.isalnum() and path.exists():
            material = read_key(path)
            if _FIRST[purpose].id_of(material) != key_id:
                raise Unavailable(
                    f"{path} does not contain the key that its name states.", remedy="Restore it from a backup."
                )
            key = self._keys[purpose, key_id] = InstallationKey(purpose, key_id, material)
            return key
        key_or_none = next((key for key in self._stored_first(purpose) if key.id == key_id), None)
        if key_or_none is not None:
            self._keys[purpose, key_id] = key_or_none
        return key_or_none

    def _stored_first(self, purpose: Purpose, *, environment: bool = True) -> list[InstallationKey]:
        """Return the existing keys of the environment and of the data folder; creates none."""
        path = self._settings.data_dir / _FIRST[purpose].file
        configured_key = self._given(purpose) if environment else None
        materials = [configured_key] if configured_key is not None else []
        if path.exists():
            materials.append(read_key(path))
        return [InstallationKey(purpose, _FIRST[purpose].id_of(material), material) for material in materials]

    def _given(self, purpose: Purpose) -> bytes | None:
        settings = self._settings
        configured_key: SecretStr | None = settings.secret_key if purpose is Purpose.SECRETS else settings.evidence_key
        return None if configured_key is None else configured_key.get_secret_value().encode()

    def _path(self, purpose: Purpose, key_id: str) -> Path:
        return self.folder / f"{purpose.value}-{key_id}.key"


def new_ring(settings: Settings) -> KeyRing:
    """Return a keyring without rotations: for a process without a database."""
    ring = KeyRing(settings)
    ring.use({})
    return ring
