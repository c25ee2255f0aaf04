"""The installation's keys: for each purpose the first key and those that rotations added, one private file each.

The first key is set in the environment, or is made in the data folder when it is first needed. Every other key is a
file `PURPOSE-ID.key` (mode 0600) in the folder of keys, which machines without a shared data folder copy or mount.
Which key is the current one is not in the files: the database says it, so that every process agrees
(`features/keyring`).
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
    """What a key is for."""

    SECRETS = "secrets"
    EVIDENCE = "evidence"


@dataclass(frozen=True, slots=True, repr=False)
class InstallationKey:
    """One key. Its material is in no representation."""

    purpose: Purpose
    id: str
    material: bytes
    """32 bytes in URL-safe base64."""

    def __repr__(self) -> str:
        return f"InstallationKey({self.purpose.value}, {self.id})"


class KeyMissing(Unavailable):
    """A key is needed that this process cannot read."""

    code = "key_missing"
    title = "Key missing"

    def __init__(self, purpose: Purpose, key_id: str, folder: Path) -> None:
        first = _FIRST[purpose]
        super().__init__(
            f"The {purpose.value} key {key_id} is missing on this machine.",
            remedy=f"Copy {purpose.value}-{key_id}.key into {folder} from a machine or backup that has it, or start "
            f"with the {first.variable} or {first.file} that it was.",
            key_id=key_id,
        )


@dataclass(frozen=True, slots=True)
class _First:
    """Where the first key of a purpose is."""

    variable: str
    file: str
    id_of: Callable[[bytes], str]


def secrets_key_id(material: bytes) -> str:
    """16 hexadecimal digits that name a key and say nothing else about it."""
    return hashlib.sha256(b"headgate secrets key\0" + material).hexdigest()[:ID_CHARACTERS]


def evidence_key_id(material: bytes) -> str:
    """The id that signatures name: of the public key. Raises `Unavailable` for what is no key."""
    return signer_of(material).key.key_id


def signer_of(material: bytes) -> Signer:
    """Signs with a key. Raises `Unavailable` when it is not 32 bytes of base64."""
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
    """The keys that one process can read, and which of them it writes with.

    Args:
        settings: Where the first keys and the folder of keys are.
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
        """Write with these keys from now on; with the first key for a purpose that is not named."""
        self._current = dict(current)

    def current(self, purpose: Purpose) -> InstallationKey:
        """The key to write with. Raises `KeyMissing`, or `Unavailable` when the first one cannot be read or made."""
        if self._current is None:
            raise RuntimeError("a key ring is told the current keys of the database before it is written with")
        key_id = self._current.get(purpose)
        return self.get(purpose, key_id) if key_id is not None else self.first(purpose)

    def get(self, purpose: Purpose, key_id: str) -> InstallationKey:
        """A key by its id. Raises `KeyMissing`."""
        key = self._find(purpose, key_id)
        if key is None:
            raise KeyMissing(purpose, key_id, self.folder)
        return key

    def has(self, purpose: Purpose, key_id: str) -> bool:
        """Whether this process can read a key. One whose file is damaged counts as missing."""
        try:
            return self._find(purpose, key_id) is not None
        except Unavailable:
            return False

    def first(self, purpose: Purpose) -> InstallationKey:
        """The first key, made where there is none. Raises `Unavailable`."""
        known = self._first.get(purpose)
        if known is None:
            first = _FIRST[purpose]
            path = self._settings.data_dir / first.file
            given = self._given(purpose)
            if given is None and not path.exists():
                write_key(data_folder(path.parent) / path.name, new_key(), first.variable)
            material = given if given is not None else read_key(path)
            known = self._first[purpose] = first.id_of(material)
            self._keys[purpose, known] = InstallationKey(purpose, known, material)
        return self._keys[purpose, known]

    def every(self, purpose: Purpose) -> list[InstallationKey]:
        """Every key that can be read: what was written before ciphertexts named their key may be of any of them."""
        names = [path.name for path in sorted(self.folder.glob(f"{purpose.value}-*.key"))]
        ids = [name.removeprefix(f"{purpose.value}-").removesuffix(".key") for name in names]
        return [*self._stored_first(purpose), *(self.get(purpose, key_id) for key_id in ids)]

    def add(self, purpose: Purpose) -> InstallationKey:
        """Make a new key in the folder of keys; nothing is written with it yet. Raises `Unavailable`."""
        material = new_key()
        key = InstallationKey(purpose, _FIRST[purpose].id_of(material), material)
        path = self._path(purpose, key.id)
        try:
            private_folder(path.parent)
        except OSError as error:
            raise Unavailable(
                f"The folder of keys {path.parent} cannot be created: {error.strerror}.",
                remedy="Check HEADGATE_KEYS_DIR, or rotate on a machine that may write it.",
            ) from error
        write_key(path, material, "HEADGATE_KEYS_DIR")
        self._keys[purpose, key.id] = key
        return key

    def destroy(self, purpose: Purpose, key_id: str) -> bool:
        """Delete a key's file from this machine; whether this process could still read it from the environment."""
        self._keys.pop((purpose, key_id), None)
        paths = [self._path(purpose, key_id)]
        first = next((key for key in self._stored_first(purpose, environment=False) if key.id == key_id), None)
        if first is not None:
            paths.append(self._settings.data_dir / _FIRST[purpose].file)
        self._first.pop(purpose, None)
        for path in paths:
            with suppress(OSError):  # it is not here, or mounted read-only: `headgate keyring list` shows what is left
                path.unlink()
        self._keys.pop((purpose, key_id), None)
        return self.has(purpose, key_id)

    def _find(self, purpose: Purpose, key_id: str) -> InstallationKey | None:
        known = self._keys.get((purpose, key_id))
        if known is not None:
            return known
        path = self._path(purpose, key_id)
        if key_id.isalnum() and path.exists():
            material = read_key(path)
            if _FIRST[purpose].id_of(material) != key_id:
                raise Unavailable(f"{path} is not the key that its name says.", remedy="Restore it from a backup.")
            key = self._keys[purpose, key_id] = InstallationKey(purpose, key_id, material)
            return key
        key_or_none = next((key for key in self._stored_first(purpose) if key.id == key_id), None)
        if key_or_none is not None:
            self._keys[purpose, key_id] = key_or_none
        return key_or_none

    def _stored_first(self, purpose: Purpose, *, environment: bool = True) -> list[InstallationKey]:
        """The keys of the environment and of the data folder, where they are; neither is made."""
        path = self._settings.data_dir / _FIRST[purpose].file
        given = self._given(purpose) if environment else None
        materials = [given] if given is not None else []
        if path.exists():
            materials.append(read_key(path))
        return [InstallationKey(purpose, _FIRST[purpose].id_of(material), material) for material in materials]

    def _given(self, purpose: Purpose) -> bytes | None:
        settings = self._settings
        given: SecretStr | None = settings.secret_key if purpose is Purpose.SECRETS else settings.evidence_key
        return None if given is None else given.get_secret_value().encode()

    def _path(self, purpose: Purpose, key_id: str) -> Path:
        return self.folder / f"{purpose.value}-{key_id}.key"


def new_ring(settings: Settings) -> KeyRing:
    """A ring where nothing was ever rotated: for a process without a database."""
    ring = KeyRing(settings)
    ring.use({})
    return ring
