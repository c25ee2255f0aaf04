"""Reads the archive of a pack. It is hostile input: bounded and hashed; nothing is executed or extracted to disk.

An archive is a ZIP file with one folder `headgate-pack` of `manifest.json`, `signature.json` and the files that the
manifest names. A wheel with that folder inside is one too; its other entries are never read.
"""

import hashlib
import stat
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import orjson
from pydantic import ValidationError

from headgate.features.packs.errors import BadPack
from headgate.features.packs.manifest import (
    FOLDER,
    MANIFEST,
    MOST_ARCHIVE_BYTES,
    MOST_BYTES,
    MOST_ENTRIES,
    MOST_FILE_BYTES,
    SIGNATURE,
    PackManifest,
    require_visible,
)
from headgate.foundation.signing import EvidenceKey, broken_signature, exact_base64, key_of

_BROKEN = (BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError, NotImplementedError, RuntimeError)
"""What `zipfile` raises for damaged archives."""
_MOST_SIGNATURE_BYTES = 4_096


@dataclass(frozen=True, slots=True)
class Pack:
    """A pack whose files have the hashes of its manifest and whose signature, if any, is valid."""

    manifest: PackManifest
    files: Mapping[str, str]
    """Path to text."""
    digest: str
    """SHA-256 of the manifest, which identifies the content."""
    signer: EvidenceKey | None
    """The key that signed it; None when unsigned. Whether it is trusted is up to the installation."""

    def texts(self, folder: str) -> dict[str, str]:
        """Return the files of one folder, name without ending to text, by name."""
        prefix = f"{folder}/"
        return {
            path.removeprefix(prefix).rpartition(".")[0]: self.files[path]
            for path in sorted(self.files)
            if path.startswith(prefix)
        }


def signed_members(manifest: PackManifest, digest: str) -> dict[str, str]:
    """Return what a signature covers."""
    return {"name": manifest.name, "version": manifest.version, "manifest_sha256": digest}


def read_pack(content: bytes) -> Pack:
    """Return the pack of an archive. Raises `BadPack`."""
    if len(content) > MOST_ARCHIVE_BYTES:
        raise BadPack(f"it has more than {MOST_ARCHIVE_BYTES} bytes")
    try:
        with ZipFile(BytesIO(content)) as archive:
            return _read(archive)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part)[:60] for part in first["loc"]) or "it"
        raise BadPack(f"its manifest is invalid, {ascii(place)[1:-1]}: {ascii(first['msg'])[1:-1]}") from error
    except _BROKEN as error:
        raise BadPack(f"it is not a readable ZIP archive ({type(error).__name__})") from error


def _read(archive: ZipFile) -> Pack:
    entries = _entries(archive)
    raw = _content(archive, entries, MANIFEST)
    manifest = PackManifest.model_validate_json(raw)
    digest = hashlib.sha256(raw).hexdigest()
    unlisted = sorted(set(entries) - {MANIFEST, SIGNATURE} - set(manifest.files))
    if unlisted:
        raise BadPack(f"its manifest does not name the file {unlisted[0][:100]!a}")
    files: dict[str, str] = {}
    total = 0
    for path, expected in manifest.files.items():
        data = _content(archive, entries, path)
        total += len(data)
        if total > MOST_BYTES:
            raise BadPack(f"its files have more than {MOST_BYTES} bytes")
        if hashlib.sha256(data).hexdigest() != expected:
            raise BadPack(f"{path} does not have the hash of the manifest: it was changed")
        files[path] = _text(path, data)
    return Pack(manifest, files, digest, _signer(archive, entries, manifest, digest))


def _entries(archive: ZipFile) -> dict[str, ZipInfo]:
    """Return the files of the pack's folder by their path in it. Raises `BadPack`."""
    infos = archive.infolist()
    if len(infos) > MOST_ENTRIES:
        raise BadPack(f"it has more than {MOST_ENTRIES} entries")
    names = [info.filename for info in infos]
    if len(set(names)) < len(names):
        raise BadPack("it has two entries with the same name")
    ending = f"{FOLDER}/{MANIFEST}"
    manifests = [name for name in names if name == ending or name.endswith(f"/{ending}")]
    if len(manifests) != 1:
        raise BadPack(f"it has {'no' if not manifests else 'more than one'} file {ending}")
    prefix = manifests[0].removesuffix(MANIFEST)
    if prefix == f"{FOLDER}/" and any(not name.startswith(prefix) for name in names):
        raise BadPack(f"it has entries outside the folder {FOLDER}")
    return {
        info.filename.removeprefix(prefix): info
        for info in infos
        if info.filename.startswith(prefix) and not info.is_dir()
    }


def _content(archive: ZipFile, entries: Mapping[str, ZipInfo], path: str) -> bytes:
    """Return a file, of at most `MOST_FILE_BYTES`, whatever the archive states. Raises `BadPack`."""
    info = entries.get(path)
    if info is None:
        raise BadPack(f"the file {path} is missing")
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in {0, stat.S_IFREG}:
        raise BadPack(f"{path} is a link or a special file")
    if info.flag_bits & 1 or info.compress_type not in {ZIP_STORED, ZIP_DEFLATED}:
        raise BadPack(f"{path} is encrypted or compressed in an unknown way")
    if info.file_size > MOST_FILE_BYTES:
        raise BadPack(f"{path} has more than {MOST_FILE_BYTES} bytes")
    with archive.open(info) as stream:
        data = stream.read(MOST_FILE_BYTES + 1)
    if len(data) > MOST_FILE_BYTES:
        raise BadPack(f"{path} has more than {MOST_FILE_BYTES} bytes")
    return data


def _text(path: str, data: bytes) -> str:
    try:
        return require_visible(data.decode())
    except UnicodeDecodeError as error:
        raise BadPack(f"{path} is not UTF-8 text") from error
    except ValueError as error:
        raise BadPack(f"{path}: {error}") from error


def _signer(
    archive: ZipFile, entries: Mapping[str, ZipInfo], manifest: PackManifest, digest: str
) -> EvidenceKey | None:
    if SIGNATURE not in entries:
        return None
    raw = _content(archive, entries, SIGNATURE)
    try:
        document = orjson.loads(raw) if len(raw) <= _MOST_SIGNATURE_BYTES else None
    except orjson.JSONDecodeError as error:
        raise BadPack("its signature is not JSON") from error
    problem = broken_signature(document, signed_members(manifest, digest))
    public = exact_base64(document.get("public_key")) if isinstance(document, dict) else None
    if problem is not None or public is None:
        raise BadPack("its signature does not match its manifest and key: it was changed")
    return key_of(public)
