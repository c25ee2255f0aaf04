"""The archive of a backup: what was put in comes out, and nothing that was changed or made up is accepted."""

import gzip
import hashlib
import io
import json
import random
import resource
import tarfile
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import IO

import pytest

from headgate.entrypoints.backups import sealing
from headgate.entrypoints.backups.archive import ArchiveReader, ArchiveWriter, Header
from headgate.entrypoints.backups.errors import BackupInvalid, PassphraseWrong
from headgate.foundation.errors import Invalid
from tests.support.properties import sized

HEADER = Header("an id", "2026-11-24T00:00:00+00:00", "0.1.0", "0033", "sqlite", "local", keys=True)
FILES = {
    "databases/headgate.db": bytes(range(256)) * 9000,
    "files/t/ab/one": b"",
    "workspace/users/x/" + "long/" * 60 + "räksmörgås.txt": b"hello",
    "keys/secret.key": b"k" * 44,
}
PASSPHRASE = "correct horse battery"


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scrypt at its real cost takes half a second."""
    monkeypatch.setattr(sealing.SealedWriter.__init__, "__kwdefaults__", {"cost": 4})


def written(folder: Path, passphrase: str | None, files: dict[str, bytes] = FILES) -> bytes:
    file = io.BytesIO()
    with ArchiveWriter(file, HEADER, passphrase, folder) as archive:
        for name, content in files.items():
            archive.add(name, io.BytesIO(content), len(content))
    return file.getvalue()


def pieces(content: IO[bytes]) -> bytes:
    found = b""
    while piece := content.read(1000):
        found += piece
    return found


def read(content: bytes | IO[bytes], passphrase: str | None = None) -> dict[str, bytes]:
    file = io.BytesIO(content) if isinstance(content, bytes) else content
    with ArchiveReader(file, passphrase) as archive:
        members = {member.name: pieces(member.content) for member in archive.members()}
        assert archive.header == HEADER
    return members


@pytest.fixture(params=[None, PASSPHRASE], ids=["plain", "sealed"])
def passphrase(request: pytest.FixtureRequest) -> str | None:
    found: str | None = request.param
    return found


class TestArchive:
    def test_returns_what_was_put_in(self, tmp_path: Path, passphrase: str | None) -> None:
        assert read(written(tmp_path, passphrase), passphrase) == FILES

    def test_is_listed_by_tar(self, tmp_path: Path) -> None:
        with tarfile.open(fileobj=io.BytesIO(written(tmp_path, None))) as archive:
            assert archive.getnames() == ["backup.json", *FILES, "checksums.txt"]

    def test_that_is_sealed_shows_nothing(self, tmp_path: Path) -> None:
        content = written(tmp_path, PASSPHRASE, {"keys/secret.key": b"a very secret key"})
        assert b"secret" not in content
        with pytest.raises(Invalid, match="encrypted"):
            read(content)

    @pytest.mark.parametrize("wrong", ["", "correct horse batterx", PASSPHRASE + "\n"])
    def test_that_is_sealed_opens_with_its_passphrase_only(self, tmp_path: Path, wrong: str) -> None:
        with pytest.raises(PassphraseWrong):
            read(written(tmp_path, PASSPHRASE), wrong)

    def test_that_was_changed_anywhere_is_refused(self, tmp_path: Path, passphrase: str | None) -> None:
        good = written(tmp_path, passphrase)
        places = {*range(60), *random.sample(range(len(good)), sized(60, 600)), *range(len(good) - 60, len(good))}
        accepted = []
        for place in sorted(places):
            changed = bytearray(good)
            changed[place] ^= random.choice([1, 16, 128])
            try:
                same = read(bytes(changed), passphrase) == FILES
            except Invalid:
                continue
            if not same or passphrase is not None:  # gzip ignores a few bits of its own header
                accepted.append(place)
        assert accepted == []

    def test_that_ends_early_anywhere_is_refused(self, tmp_path: Path, passphrase: str | None) -> None:
        good = written(tmp_path, passphrase)
        lengths = {*range(80), *random.sample(range(len(good)), sized(60, 600)), *range(len(good) - 80, len(good))}
        for length in sorted(lengths):
            with pytest.raises(Invalid):
                read(good[:length], passphrase)

    def test_with_something_after_its_end_is_refused(self, tmp_path: Path, passphrase: str | None) -> None:
        good = written(tmp_path, passphrase)
        for more in (b"x", good, gzip.compress(b"more")):
            with pytest.raises(Invalid):
                read(good + more, passphrase)

    def test_whose_chunks_were_swapped_is_refused(self, tmp_path: Path) -> None:
        content = random.randbytes(3 * sealing.CHUNK_BYTES)
        good = written(tmp_path, PASSPHRASE, {"databases/headgate.db": content})
        size, head = sealing.CHUNK_BYTES + 16, 21
        swapped = good[:head] + good[head + size : head + 2 * size] + good[head : head + size] + good[head + 2 * size :]
        with pytest.raises(PassphraseWrong):
            read(swapped, PASSPHRASE)
        missing = good[: head + size] + good[head + 2 * size :]
        with pytest.raises(BackupInvalid):
            read(missing, PASSPHRASE)


def made_up(header: Header, *members: tuple[tarfile.TarInfo, bytes], sums: bytes | None = None) -> bytes:
    """An archive that somebody wrote by hand, with true checksums."""
    file, lines = io.BytesIO(), b""
    with tarfile.open(fileobj=file, mode="w:gz", format=tarfile.GNU_FORMAT) as archive:

        def add(info: tarfile.TarInfo, content: bytes) -> None:
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))

        add(tarfile.TarInfo("backup.json"), json.dumps(asdict(header)).encode())
        for info, content in members:
            add(info, content)
            lines += f"{hashlib.sha256(content).hexdigest()} {len(content)} {info.name}\n".encode()
        add(tarfile.TarInfo("checksums.txt"), lines if sums is None else sums)
    return file.getvalue()


def of_kind(kind: bytes, target: str = "/etc/passwd") -> tarfile.TarInfo:
    info = tarfile.TarInfo("files/a")
    info.type, info.linkname = kind, target
    return info


NAMES = (
    *("/etc/passwd", "../x", "files/../../x", "files/./x", "files//x", "files", "files/", "other/x", "x"),
    *("files/a\\..\\b", "files/a\nb", "files/\x00b", "keys", "databases/..", "C:/x", "files/" + "x" * 9000),
)

NO_BACKUPS = (b"", b"x", b"hgb1", b"hgb1" + b"\xff" * 60, gzip.compress(b"", mtime=0), bytes(5000))


class TestHostileArchive:
    @pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
    def test_cannot_name_a_file_outside(self, name: str) -> None:
        with pytest.raises(BackupInvalid):
            read(made_up(HEADER, (tarfile.TarInfo(name), b"x")))

    @pytest.mark.parametrize(
        "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE]
    )
    def test_cannot_contain_anything_but_files(self, kind: bytes) -> None:
        with pytest.raises(BackupInvalid, match="regular file"):
            read(made_up(HEADER, (of_kind(kind), b"")))

    def test_that_needs_extensions_of_tar_is_refused(self) -> None:
        file = io.BytesIO()
        with tarfile.open(fileobj=file, mode="w:gz", format=tarfile.PAX_FORMAT) as archive:
            info = tarfile.TarInfo("backup.json")
            info.pax_headers = {"comment": "x" * 5_000_000}
            archive.addfile(info)
        with pytest.raises(BackupInvalid):
            read(file.getvalue())

    @pytest.mark.parametrize("sums", [b"", b"x" * 200])
    def test_with_other_checksums_is_refused(self, sums: bytes) -> None:
        with pytest.raises(BackupInvalid, match="checksums"):
            read(made_up(HEADER, (tarfile.TarInfo("files/a"), b"x"), sums=sums))

    @pytest.mark.parametrize(
        "change",
        [
            lambda document: document | {"format": "headgate-backup/2"},
            lambda document: document | {"format": ["headgate-backup/1"]},
            lambda document: document | {"unknown": 1},
            lambda document: document | {"schema": "x" * 1000},
            lambda document: document | {"schema": 33},
            lambda document: document | {"key_ids": []},
            lambda document: {},
            lambda document: [],
            lambda document: json.loads("[" * 900 + "]" * 900),
        ],
    )
    def test_with_another_header_is_refused(self, change: Callable[[dict[str, object]], object]) -> None:
        file = io.BytesIO()
        content = json.dumps(change(asdict(HEADER))).encode()
        with tarfile.open(fileobj=file, mode="w:gz") as archive:
            info = tarfile.TarInfo("backup.json")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        with pytest.raises(BackupInvalid):
            read(file.getvalue())

    @pytest.mark.parametrize(
        "content", [b"", b"x", b"hgb1", b"hgb1" + b"\xff" * 60, gzip.compress(b"", mtime=0), bytes(5000)], ids=range(6)
    )
    def test_that_is_none_is_refused(self, content: bytes) -> None:
        with pytest.raises(Invalid):
            read(content, PASSPHRASE)

    def test_that_unpacks_to_much_needs_little_memory(self, tmp_path: Path) -> None:
        bomb = tmp_path / "bomb"
        name = "files/" + "a" * 30
        with gzip.open(bomb, "wb", compresslevel=1) as file:
            for info, size in ((tarfile.TarInfo("backup.json"), None), (tarfile.TarInfo(name), 2_000_000_000)):
                content = json.dumps(asdict(replace(HEADER))).encode()
                info.size = len(content) if size is None else size
                file.write(info.tobuf(tarfile.GNU_FORMAT))
                for _ in range((size or 0) // 1_000_000):
                    file.write(bytes(1_000_000))
                if size is None:
                    file.write(content + bytes(-len(content) % 512))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with bomb.open("rb") as packed, ArchiveReader(packed, None) as archive, pytest.raises(BackupInvalid):
            for _ in archive.members():
                pass
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000
