"""Packs for tests: built by the product, then changed entry by entry."""

import hashlib
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import orjson

from headgate.features.packs.building import build_pack
from headgate.features.packs.scaffold import new_pack
from headgate.foundation.signing import Signer

SIGNER = Signer(b"k" * 32)
OTHER_SIGNER = Signer(b"o" * 32)
MANIFEST = "headgate-pack/manifest.json"


def folder_of(place: Path, name: str = "acme-tools", **replaced: str | None) -> Path:
    """The folder of a new pack; files are replaced by path with `__` for `/`, or removed."""
    folder = new_pack(name, place)
    for path, text in replaced.items():
        file = folder / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8") if text is not None else file.unlink()
    return folder


def set_version(folder: Path, version: str) -> None:
    """Write another version into a pack's folder."""
    source = folder / "pack.toml"
    source.write_text(source.read_text().replace('version = "0.1.0"', f'version = "{version}"'))


def archive_of(folder: Path, signer: Signer | None = SIGNER) -> bytes:
    """The archive of a folder."""
    return build_pack(folder, signer)[1]


def rewritten(
    archive: bytes,
    files: Mapping[str, bytes | None] | None = None,
    *,
    entry: Callable[[ZipInfo], None] = lambda info: None,
    twice: str = "",
) -> bytes:
    """The archive with files added, replaced or removed, entries changed, or one entry written twice."""
    with ZipFile(BytesIO(archive)) as source:
        members: dict[str, bytes | None] = {info.filename: source.read(info) for info in source.infolist()}
    members |= files or {}
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as target:
        for name, data in members.items():
            if data is None:
                continue
            info = ZipInfo(name)
            info.compress_type, info.external_attr = ZIP_DEFLATED, 0o100644 << 16
            entry(info)
            target.writestr(info, data)
            if name == twice:
                target.writestr(info, data)
    return buffer.getvalue()


def with_manifest(archive: bytes, signer: Signer | None = None, **members: object) -> bytes:
    """The archive with other members of the manifest; unsigned, or signed again."""
    with ZipFile(BytesIO(archive)) as source:
        manifest = orjson.loads(source.read(MANIFEST)) | members
    raw = orjson.dumps(manifest)
    signature = None
    if signer is not None:
        digest = hashlib.sha256(raw).hexdigest()
        signed = {"name": manifest["name"], "version": manifest["version"], "manifest_sha256": digest}
        signature = orjson.dumps(signer.sign(signed))
    return rewritten(archive, {MANIFEST: raw, "headgate-pack/signature.json": signature})
