"""Builds the archive of a pack from its folder, and signs it. The same folder and key produce the same bytes."""

import base64
import hashlib
import os
import tomllib
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import orjson
from pydantic import ValidationError

from headgate.features.packs.archive import signed_members
from headgate.features.packs.errors import BadPack
from headgate.features.packs.manifest import (
    FOLDER,
    FORMAT,
    MANIFEST,
    MOST_FILE_BYTES,
    SIGNATURE,
    PackFacts,
    PackManifest,
)
from headgate.foundation.canonical import canonical
from headgate.foundation.signing import Signer

SOURCE = "pack.toml"
_FOLDERS = {
    "components": "*.py",
    "templates": "*.flow",
    "connections": "*.json",
    "translations": "*.json",
    "skills": "*.md",
}
_DATE = (1980, 1, 1, 0, 0, 0)
_KEY_BYTES = 32


def build_pack(folder: Path, signer: Signer | None = None) -> tuple[PackManifest, bytes]:
    """Return manifest and archive of a pack's folder. Raises `BadPack`."""
    files = _files(folder)
    facts = _facts(folder)
    try:
        manifest = PackManifest(
            **facts.model_dump(),
            format=FORMAT,
            files={path: hashlib.sha256(data).hexdigest() for path, data in files.items()},
        )
    except ValidationError as error:
        raise BadPack(_first(error), remedy=f"Correct the files of {folder}.") from error
    raw = canonical(manifest.model_dump(mode="json"))
    members = {MANIFEST: raw, **files}
    if signer is not None:
        signature = signer.sign(signed_members(manifest, hashlib.sha256(raw).hexdigest()))
        members[SIGNATURE] = orjson.dumps(signature)
    return manifest, _zipped({f"{FOLDER}/{path}": data for path, data in members.items()})


def as_wheel(manifest: PackManifest, archive: bytes) -> tuple[str, bytes]:
    """Return name and content of a wheel with the archive's folder inside, for package indexes and their mirrors."""
    package = manifest.name.replace("-", "_")
    info = f"{package}-{manifest.version}.dist-info"
    with ZipFile(BytesIO(archive)) as pack:
        members = {f"{package}/{entry.filename}": pack.read(entry) for entry in pack.infolist()}
    members[f"{package}/__init__.py"] = b""
    members[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {manifest.name}\nVersion: {manifest.version}\nSummary: {manifest.title}\n"
    ).encode()
    members[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: headgate\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = [f"{path},sha256={_record_hash(data)},{len(data)}" for path, data in members.items()]
    members[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,", ""]).encode()
    return f"{package}-{manifest.version}-py3-none-any.whl", _zipped(members)


def new_key(file: Path) -> Signer:
    """Create a signing key in a new private file. Raises `BadPack` when the file exists or cannot be written."""
    seed = os.urandom(_KEY_BYTES)
    try:
        descriptor = os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except OSError as error:
        raise BadPack(f"the key cannot be written: {error.strerror}", remedy="Name a new file.") from error
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(base64.b64encode(seed) + b"\n")
    return Signer(seed)


def read_key(file: Path) -> Signer:
    """Return the signer of a key file. Raises `BadPack`."""
    try:
        seed = base64.b64decode(file.read_bytes()[:200].strip(), validate=True)
    except (OSError, ValueError) as error:
        raise BadPack(f"the key {file} cannot be read", remedy="Create one: headgate packs key FILE.") from error
    if len(seed) != _KEY_BYTES:
        raise BadPack(f"the key {file} is not 32 bytes in base64", remedy="Create one: headgate packs key FILE.")
    return Signer(seed)


def _facts(folder: Path) -> PackFacts:
    try:
        return PackFacts.model_validate(tomllib.loads((folder / SOURCE).read_text(encoding="utf-8")))
    except ValidationError as error:
        raise BadPack(f"{SOURCE}: {_first(error)}", remedy="Correct it.") from error
    except (OSError, ValueError) as error:
        raise BadPack(f"{SOURCE} cannot be read: {error}", remedy="Create a pack: headgate packs new NAME.") from error


def _first(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


def _files(folder: Path) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for name, pattern in _FOLDERS.items():
        for path in sorted((folder / name).glob(pattern)):
            if path.is_symlink() or path.stat().st_size > MOST_FILE_BYTES:
                raise BadPack(f"{path} is a link or has more than {MOST_FILE_BYTES} bytes", remedy="Replace it.")
            files[f"{name}/{path.name}"] = path.read_bytes().replace(b"\r\n", b"\n")
    return files


def _zipped(members: Mapping[str, bytes]) -> bytes:
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as archive:
        for path, data in members.items():
            entry = ZipInfo(path, _DATE)
            entry.compress_type, entry.external_attr = ZIP_DEFLATED, 0o100644 << 16
            archive.writestr(entry, data)
    return buffer.getvalue()


def _record_hash(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
