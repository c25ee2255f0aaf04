"""Archives, and archives that attack."""

import io
import tarfile
import zipfile
from collections.abc import Mapping

import pytest

from headgate.components.readers import archive
from headgate.components.readers.archive import extract, list_archive
from headgate.components.readers.document import Unreadable

FILES = {"a.txt": b"one", "folder/b.txt": b"two", "../../etc/c.txt": b"three"}


def zipped(files: Mapping[str, bytes] = FILES) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("folder/", b"")
        for name, content in files.items():
            made.writestr(name, content)
        link = zipfile.ZipInfo("link")
        link.external_attr = 0o120777 << 16
        made.writestr(link, "/etc/passwd")
    return stream.getvalue()


def tarred(mode: str, files: Mapping[str, bytes] = FILES) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as made:  # type: ignore[call-overload]
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            made.addfile(info, io.BytesIO(content))
        for name, kind in {"folder": tarfile.DIRTYPE, "link": tarfile.SYMTYPE, "device": tarfile.CHRTYPE}.items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            made.addfile(info)
    return stream.getvalue()


MADE = [zipped(), *(tarred(f"w:{kind}") for kind in ("", "gz", "bz2", "xz"))]
each_kind = pytest.mark.parametrize("content", MADE, ids=["zip", "tar", "gz", "bz2", "xz"])


class TestArchive:
    @each_kind
    def test_lists_files_only(self, content: bytes) -> None:
        assert [(entry.path, entry.size) for entry in list_archive(content, name="a")] == [
            (path, len(data)) for path, data in FILES.items()
        ]

    @each_kind
    def test_extracts_some(self, content: bytes) -> None:
        assert extract(content, {"folder/b.txt"}, name="a") == {"folder/b.txt": b"two"}
        with pytest.raises(Unreadable, match="contains no readable file 'link'"):
            extract(content, {"link"}, name="a")

    @each_kind
    def test_refuses_a_damaged_one(self, content: bytes) -> None:
        with pytest.raises(Unreadable):
            extract(content[: min(len(content) // 3, 600)] + b"\xff" * 30, set(FILES), name="a")

    @pytest.mark.parametrize("content", [b"", b"plain text", b"\x1f\x8b", b"PK\x05\x06" + b"\0" * 3])
    def test_refuses_what_is_none(self, content: bytes) -> None:
        with pytest.raises(Unreadable):
            list_archive(content, name="a")

    @pytest.mark.parametrize("make", [zipped, lambda files: tarred("w:gz", files)], ids=["zip", "gz"])
    def test_refuses_a_bomb(self, make: object, monkeypatch: pytest.MonkeyPatch) -> None:
        bomb = make({"bomb": b"0" * 2_000_000})  # type: ignore[operator]
        monkeypatch.setattr(archive, "MOST_MEMBER_BYTES", 1_000_000)
        with pytest.raises(Unreadable, match="unpacks to more than 1000000 bytes"):
            extract(bomb, {"bomb"}, name="a")
        monkeypatch.setattr(archive, "MOST_UNPACKED", 1_000_000)
        with pytest.raises(Unreadable, match="unpacks to more than"):
            extract(bomb, {"bomb"}, name="a")

    def test_does_not_believe_the_declared_size(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(archive, "MOST_MEMBER_BYTES", 1_000_000)
        content = zipped({"a": b"0" * 2_000_000})
        with pytest.raises(Unreadable):
            extract(content.replace((2_000_000).to_bytes(4, "little"), (10).to_bytes(4, "little")), {"a"}, name="a")

    def test_refuses_many_entries(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(archive, "MOST_ENTRIES", 2)
        for content in MADE:
            with pytest.raises(Unreadable, match="more than 2 entries"):
                list_archive(content, name="a")

    def test_says_that_it_is_encrypted(self) -> None:
        content = bytearray(zipped({"a": b"secret"}))
        for start in (content.index(b"PK\x03\x04") + 6, content.index(b"PK\x01\x02") + 8):
            for place in range(start, start + 1):
                content[place] |= 1
        flagged = bytes(content).replace(b"PK\x03\x04\x14\x00\x00", b"PK\x03\x04\x14\x00\x01")
        flagged = flagged.replace(b"PK\x01\x02\x14\x03\x14\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01")
        with pytest.raises(Unreadable, match="is encrypted"):
            extract(flagged, {"a"}, name="a")
