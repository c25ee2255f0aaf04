"""Reading the archive of a pack: hostile input."""

import hashlib
import stat
import struct
import sys
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile, ZipInfo

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.features.packs.archive import read_pack
from headgate.features.packs.building import as_wheel, build_pack, new_key, read_key
from headgate.features.packs.errors import BadPack
from headgate.features.packs.manifest import MOST_ARCHIVE_BYTES, MOST_FILE_BYTES, HeadgateRange, version_key
from headgate.features.packs.scaffold import new_pack
from tests.support.packs import MANIFEST, OTHER_SIGNER, SIGNER, archive_of, folder_of, rewritten, with_manifest

_CODE = "headgate-pack/components/acme_tools.py"


@pytest.fixture
def archive(tmp_path: Path) -> bytes:
    return archive_of(folder_of(tmp_path))


def refused(content: bytes) -> str:
    with pytest.raises(BadPack) as error:
        read_pack(content)
    assert error.value.detail.isprintable()
    return error.value.detail


class TestReadPack:
    def test_reads_what_was_built(self, archive: bytes) -> None:
        pack = read_pack(archive)
        assert (pack.manifest.name, pack.manifest.version) == ("acme-tools", "0.1.0")
        assert pack.signer == SIGNER.key
        assert list(pack.texts("components")) == ["acme_tools"]
        assert list(pack.texts("templates")) == ["first"]
        assert list(pack.texts("connections")) == ["service"]
        assert list(pack.texts("translations")) == ["sv"]

    def test_reads_a_wheel_and_nothing_of_its_other_files(self, tmp_path: Path) -> None:
        manifest, archive = build_pack(folder_of(tmp_path), SIGNER)
        name, wheel = as_wheel(manifest, archive)
        assert name == "acme_tools-0.1.0-py3-none-any.whl"
        wheel = rewritten(wheel, {"acme_tools/evil.py": b"raise SystemExit"})
        assert read_pack(wheel) == read_pack(archive)

    def test_the_same_folder_is_the_same_archive(self, tmp_path: Path) -> None:
        folder = folder_of(tmp_path)
        assert archive_of(folder) == archive_of(folder)

    def test_imports_nothing_of_the_archive(self, tmp_path: Path) -> None:
        code = "raise SystemExit('executed')\n"
        before = set(sys.modules)
        read_pack(archive_of(folder_of(tmp_path, **{"components/acme_tools.py": code})))
        assert not {name for name in set(sys.modules) - before if "acme" in name}


class TestHostileArchives:
    def test_a_changed_file(self, archive: bytes) -> None:
        assert "does not have the hash" in refused(rewritten(archive, {_CODE: b"pass\n"}))

    def test_a_file_that_the_manifest_does_not_name(self, archive: bytes) -> None:
        assert "does not name" in refused(rewritten(archive, {"headgate-pack/components/more.py": b"pass\n"}))

    def test_a_missing_file(self, archive: bytes) -> None:
        assert "is missing" in refused(rewritten(archive, {_CODE: None}))

    def test_a_changed_manifest_below_the_same_signature(self, archive: bytes) -> None:
        with ZipFile(BytesIO(archive)) as source:
            manifest = orjson.loads(source.read(MANIFEST)) | {"hosts": ["evil.example"]}
        assert "signature" in refused(rewritten(archive, {MANIFEST: orjson.dumps(manifest)}))

    @pytest.mark.parametrize("part", ["signature", "public_key", "manifest_sha256", "name", "version"])
    def test_a_changed_signature(self, archive: bytes, part: str) -> None:
        path = "headgate-pack/signature.json"
        with ZipFile(BytesIO(archive)) as source:
            document = orjson.loads(source.read(path))
        other = OTHER_SIGNER.sign({"name": "x", "version": "y", "manifest_sha256": "z"})
        assert "signature" in refused(rewritten(archive, {path: orjson.dumps({**document, part: other[part]})}))

    @pytest.mark.parametrize("raw", [b"", b"[]", b"null", b"{", b"{}", b'{"public_key": 1}'])
    def test_a_signature_that_is_none(self, archive: bytes, raw: bytes) -> None:
        assert "signature" in refused(rewritten(archive, {"headgate-pack/signature.json": raw}))

    def test_without_its_signature_it_is_unsigned(self, archive: bytes) -> None:
        assert read_pack(rewritten(archive, {"headgate-pack/signature.json": None})).signer is None

    @pytest.mark.parametrize(
        "path",
        [
            "../../etc/passwd",
            "components/../../evil.py",
            "/etc/passwd",
            "components\\evil.py",
            "components/evil.py\n",
            "components/\x1b[2J.py",
            "components/Evil.py",
            "evil/evil.py",
            "tests/cases.json",
            "components/é.py",
        ],
    )
    def test_paths_in_the_manifest(self, archive: bytes, path: str) -> None:
        assert "manifest is invalid" in refused(with_manifest(archive, files={path: "0" * 64}))

    @pytest.mark.parametrize("path", ["../evil", "/tmp/evil", "headgate-pack/../evil", "evil.txt"])
    def test_paths_of_entries(self, archive: bytes, path: str) -> None:
        assert refused(rewritten(archive, {path: b"x"}))

    def test_two_entries_with_one_name(self, archive: bytes) -> None:
        with pytest.warns(UserWarning, match="Duplicate"):
            content = rewritten(archive, twice=_CODE)
        assert "two entries" in refused(content)

    def test_two_manifests(self, archive: bytes) -> None:
        assert "more than one" in refused(rewritten(archive, {f"x/{MANIFEST}": b"{}"}))

    @pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFSOCK])
    def test_links_and_special_files(self, archive: bytes, kind: int) -> None:
        def changed(info: ZipInfo) -> None:
            if info.filename == _CODE:
                info.external_attr = (kind | 0o777) << 16

        assert "link or a special file" in refused(rewritten(archive, entry=changed))

    def test_a_bomb(self, archive: bytes) -> None:
        assert f"more than {MOST_FILE_BYTES}" in refused(rewritten(archive, {_CODE: b"#" * (64 << 20)}))

    def test_a_bomb_that_states_a_small_size(self, archive: bytes) -> None:
        data = b"#" * (64 << 20)
        content = bytearray(rewritten(archive, {_CODE: data}))
        size = struct.pack("<I", len(data))
        at = content.find(size)
        while at >= 0:
            content[at : at + 4] = struct.pack("<I", 100)
            at = content.find(size)
        assert refused(bytes(content))

    def test_a_large_manifest(self, archive: bytes) -> None:
        assert "more than" in refused(with_manifest(archive, description="x" * (MOST_FILE_BYTES + 1)))

    def test_a_large_archive(self) -> None:
        assert "more than" in refused(b"PK" + b"\0" * MOST_ARCHIVE_BYTES)

    def test_many_entries(self, archive: bytes) -> None:
        content = rewritten(archive, {f"headgate-pack/components/c{number}.py": b"" for number in range(2100)})
        assert "entries" in refused(content)

    def test_an_encrypted_entry(self, archive: bytes) -> None:
        content = bytearray(archive)
        at = content.find(b"PK\x01\x02")
        content[at + 8] |= 1
        assert refused(bytes(content))

    @pytest.mark.parametrize(
        ("member", "value"),
        [
            ("name", "Acme"),
            ("name", "a" * 41),
            ("name", "acme\x1b[31m"),
            ("name", "../acme"),
            ("title", "Acme\x1b[31m"),
            ("title", "Acme\u202etools"),
            ("description", "a\x07"),
            ("author", "a\nb"),
            ("version", "1.0"),
            ("version", "01.0.0"),
            ("version", "1.0.0\n"),
            ("hosts", ["https://api.example.org/"]),
            ("hosts", ["*"]),
            ("libraries", ["os.path"]),
            ("format", 2),
            ("more", 1),
            ("files", {}),
        ],
    )
    def test_values_of_the_manifest(self, archive: bytes, member: str, value: object) -> None:
        assert "manifest is invalid" in refused(with_manifest(archive, SIGNER, **{member: value}))

    @pytest.mark.parametrize("hidden", ["\x1b[2J", "\u202e", "\u200b", "\x00", "\rx"])
    def test_hidden_characters_in_code(self, tmp_path: Path, hidden: str) -> None:
        folder = folder_of(tmp_path)
        (folder / "components/acme_tools.py").write_bytes(f"x = 1  # {hidden}\n".encode())
        assert "hidden character" in refused(archive_of(folder))

    def test_a_file_that_is_no_text(self, tmp_path: Path) -> None:
        folder = folder_of(tmp_path)
        (folder / "components/acme_tools.py").write_bytes(b"\xff\xfe")
        assert "not UTF-8" in refused(archive_of(folder))

    @given(st.binary(max_size=300))
    def test_any_bytes(self, content: bytes) -> None:
        assert refused(content)
        assert refused(b"PK\x03\x04" + content)

    @given(at=st.integers(min_value=0), value=st.integers(0, 255))
    def test_any_changed_byte_is_refused_or_changes_nothing(self, at: int, value: int) -> None:
        content = bytearray(_ARCHIVE)
        content[at % len(content)] = value
        try:
            pack = read_pack(bytes(content))
        except BadPack:
            return
        assert (pack.manifest, pack.files) == (read_pack(_ARCHIVE).manifest, read_pack(_ARCHIVE).files)


class TestKeys:
    def test_a_key_file_is_private_and_never_overwritten(self, tmp_path: Path) -> None:
        file = tmp_path / "key"
        signer = new_key(file)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert read_key(file).key == signer.key
        with pytest.raises(BadPack, match="cannot be written"):
            new_key(file)

    @pytest.mark.parametrize("content", [b"", b"AAAA", b"\xff", b"?" * 44])
    def test_other_files_are_refused(self, tmp_path: Path, content: bytes) -> None:
        (tmp_path / "key").write_bytes(content)
        with pytest.raises(BadPack):
            read_key(tmp_path / "key")


class TestVersions:
    def test_are_compared_as_numbers(self) -> None:
        assert version_key("1.10.0") > version_key("1.9.9")

    def test_a_range_excludes_its_end(self) -> None:
        versions = HeadgateRange(since="1.0.0", below="2.0.0")
        assert [versions.includes(text) for text in ("0.9.9", "1.0.0", "1.9.9", "2.0.0")] == [False, True, True, False]


@pytest.mark.parametrize("name", ["Acme", "acme_tools", "../acme", "", "a" * 41, "acme-"])
def test_new_refuses_invalid_names(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadPack):
        new_pack(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def _built() -> bytes:
    raw = {"components/a.py": b"x = 1\n"}
    buffer = BytesIO()
    manifest = {
        "format": 1,
        "name": "a",
        "version": "1.0.0",
        "title": "A",
        "headgate": {"since": "0.1.0"},
        "files": {path: hashlib.sha256(data).hexdigest() for path, data in raw.items()},
    }
    with ZipFile(buffer, "w") as target:
        target.writestr(ZipInfo(MANIFEST), orjson.dumps(manifest))
        for path, data in raw.items():
            target.writestr(ZipInfo(f"headgate-pack/{path}"), data)
    return buffer.getvalue()


_ARCHIVE = _built()
