"""Files of S3, Google Cloud Storage, Azure, SFTP, WebDAV and a folder of the server, on real servers on loopback."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from asyncssh.sftp import SFTPClient, SFTPClientFile, SFTPOpUnsupported

from headgate.components.files.folder_files import FolderFiles
from headgate.components.storage import drivers
from headgate.components.storage import storage as storages
from headgate.components.storage.components import MoveFile, WriteFile
from headgate.components.storage.storage import opened_storage
from headgate.foundation.errors import Forbidden, HeadgateError, UpstreamFailed
from headgate.foundation.ids import new_id
from headgate.sdk import ComponentError, File
from headgate.sdk.connections import OpenedFolder
from headgate.sdk.testing import StepHarness
from tests.support.gcs_server import new_key
from tests.support.storages import KINDS, Store, store_of

MACHINE = {
    "AWS_ACCESS_KEY_ID": "other", "AWS_SECRET_ACCESS_KEY": "other", "AWS_ENDPOINT": "http://127.0.0.1:9",
    "GOOGLE_BASE_URL": "http://127.0.0.1:9", "GOOGLE_SKIP_SIGNATURE": "true", "GOOGLE_BEARER_TOKEN": "other",
    "AZURE_STORAGE_USE_EMULATOR": "true", "AZURE_SKIP_SIGNATURE": "true", "AZURE_STORAGE_ACCOUNT_KEY": "b3RoZXI=",
    "HTTP_PROXY": "http://127.0.0.1:9", "http_proxy": "http://127.0.0.1:9",
}  # fmt: skip
"""Variables that the libraries read when they are used alone."""
ODD = "räk ning #1 (50%)+&.txt"
"""A name with characters that URLs, shells and patterns read otherwise."""


@pytest.fixture(scope="module", params=KINDS)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with store_of(request.param, tmp_path_factory.mktemp("store")) as opened:
        yield opened


@pytest.fixture
def store(server: Store) -> Store:
    return server.inside(new_id())


@pytest.fixture
def harness(store: Store) -> StepHarness:
    made = StepHarness(files={"a.txt": b"one", ODD: b"two", "empty.bin": b""})
    store.connect(made)
    return made


async def write(harness: StepHarness, *names: str, **values: Any) -> Any:
    files = [file for file in harness.ctx.input.files if file.name in names]
    return (await harness.run(WriteFile, {"storage": "store", "files": files, **values}))["data"]


async def move(harness: StepHarness, **values: Any) -> Any:
    return (await harness.run(MoveFile, {"storage": "store", **values}))["data"]


async def read(harness: StepHarness, **values: Any) -> dict[str, bytes]:
    outputs = await harness.run(FolderFiles, {"storage": "store", **values})
    contents = {}
    for entry in outputs["files"]:
        file = File(**{name: entry[name] for name in ("id", "name", "media_type", "size")})
        contents[entry["path"]] = await harness.ctx.files.read(file)
    return contents


class TestStorage:
    async def test_reads_what_it_wrote(self, harness: StepHarness) -> None:
        written = await write(harness, "a.txt", ODD, "empty.bin", folder="in/deep")
        assert sorted(entry["path"] for entry in written) == sorted(
            ["in/deep/a.txt", f"in/deep/{written[1]['path'].rpartition('/')[2]}", "in/deep/empty.bin"]
        )
        contents = await read(harness, pattern="**")
        assert sorted(contents.values()) == [b"", b"one", b"two"]
        assert set(contents) == {entry["path"] for entry in written}

    async def test_lists_by_pattern_and_change_time(self, harness: StepHarness) -> None:
        await write(harness, "a.txt", folder="in")
        await write(harness, "a.txt", folder="in/deep", name="b.md")
        assert set(await read(harness, folder="in")) == {"in/a.txt"}
        assert set(await read(harness, pattern="**/*.md")) == {"in/deep/b.md"}
        assert set(await read(harness, pattern="*/?.txt")) == {"in/a.txt"}
        listed = (await harness.run(FolderFiles, {"storage": "store", "pattern": "**"}, outputs=["table"]))["table"]
        assert [row[:2] for row in listed.rows] == [["in/a.txt", 3], ["in/deep/b.md", 3]]
        changed = datetime.fromisoformat(listed.rows[0][2])
        assert abs(datetime.now(UTC) - changed) < timedelta(minutes=5)
        before, after = (changed - timedelta(hours=1)).isoformat(), (changed + timedelta(hours=1)).isoformat()
        assert len(await read(harness, pattern="**", changed_after=before)) == 2
        assert await read(harness, pattern="**", changed_after=after) == {}

    async def test_an_existing_file_is_replaced_only_on_request(self, harness: StepHarness) -> None:
        await write(harness, "a.txt")
        assert await write(harness, "a.txt") == [{"path": "a.txt", "size": 3}]  # the same content: an earlier attempt
        with pytest.raises(ComponentError, match=r"'a\.txt' exists"):
            await write(harness, "empty.bin", name="a.txt")
        assert await read(harness) == {"a.txt": b"one"}
        await write(harness, "empty.bin", name="a.txt", replace=True)
        assert await read(harness) == {"a.txt": b""}

    async def test_moves_copies_and_deletes(self, harness: StepHarness) -> None:
        await write(harness, "a.txt", folder="in")
        await move(harness, path="in/a.txt", target="done/2027/a.txt")
        assert await read(harness, pattern="**") == {"done/2027/a.txt": b"one"}
        await move(harness, path="done/2027/a.txt", target="b.txt", action="copy")
        with pytest.raises(ComponentError, match="exists"):
            await move(harness, path="b.txt", target="done/2027/a.txt")
        assert set(await read(harness, pattern="**")) == {"done/2027/a.txt", "b.txt"}
        await move(harness, path="done/2027/a.txt", action="delete")
        assert set(await read(harness, pattern="**")) == {"b.txt"}
        for path in ("missing.txt", "in/missing/x.txt"):
            with pytest.raises(ComponentError, match="no such file"):
                await move(harness, path=path, target="x.txt")
            with pytest.raises(ComponentError, match="no such file"):
                await move(harness, path=path, action="delete")

    async def test_folders_are_neither_moved_nor_deleted(self, harness: StepHarness) -> None:
        await write(harness, "a.txt", folder="in")
        with pytest.raises(ComponentError, match="is a folder"):
            await move(harness, path="in", action="delete")
        with pytest.raises(ComponentError, match="is a folder"):
            await move(harness, path="in", target="out")
        assert set(await read(harness, pattern="**")) == {"in/a.txt"}

    @pytest.mark.parametrize("path", ["../x", "in/../../x", "/etc/../x", "a\\b", "a\0b", "a\nb", "x/" * 70 + "y"])
    async def test_no_path_leads_out(self, harness: StepHarness, path: str) -> None:
        with pytest.raises(HeadgateError):
            await move(harness, path=path, action="delete")
        with pytest.raises(HeadgateError):
            await write(harness, "a.txt", folder=path)
        with pytest.raises(HeadgateError):
            await read(harness, folder=path)

    async def test_a_failed_write_leaves_the_old_file_and_no_half_one(
        self, harness: StepHarness, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        if store.kind in {"s3", "gcs", "azure_blob"}:
            pytest.skip("stores an object as a whole")
        await write(harness, "a.txt", folder="in")
        await write(harness, "a.txt", folder="in", name="b.txt")
        async with opened_storage(harness.ctx.connections["store"], seconds=20, subject="Test") as opened:
            seen: list[str] = []
            for name, position in (("pipe_file", 0), ("cp_file", 1)):

                def failing(*arguments: Any, position: int = position) -> None:
                    with opened.files.open(arguments[position], "wb") as file:
                        file.write(b"ha")
                    seen.extend(entry.path for entry in opened._entries("in"))
                    raise OSError("the disk is full")

                with monkeypatch.context() as patch:
                    patch.setattr(opened.files, name, failing)
                    changes = {
                        "pipe_file": partial(opened.write, "in/a.txt", b"half and half", replace=True),
                        "cp_file": partial(opened.copy, "in/b.txt", "in/a.txt", replace=True, delete=True),
                    }
                    with pytest.raises(UpstreamFailed, match="the disk is full"):
                        await changes[name]()
            assert sorted(set(seen)) == ["in/a.txt", "in/b.txt"]  # the temporary one is in no listing
            assert [await opened.read(f"in/{name}.txt") for name in "ab"] == [b"one", b"one"]
            left = [str(info["name"]) for info in opened.files.ls(opened._place("in"), detail=True)]
            assert sorted(name.rpartition("/")[2] for name in left) == ["a.txt", "b.txt"]
            await opened.write("in/a.txt", b"new", replace=True)
            assert await opened.read("in/a.txt") == b"new"

    async def test_a_folder_is_never_replaced_by_a_file(self, harness: StepHarness) -> None:
        await write(harness, "a.txt", folder="in/deep")
        with pytest.raises(ComponentError, match="'in/deep' is a folder"):
            await write(harness, "a.txt", folder="in", name="deep", replace=True)
        assert set(await read(harness, pattern="**")) == {"in/deep/a.txt"}

    async def test_an_sftp_server_without_the_extension_for_renaming(
        self, harness: StepHarness, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        if store.kind != "sftp":
            pytest.skip("has renaming")

        async def unsupported(*_: Any) -> None:
            raise SFTPOpUnsupported("no posix-rename")

        monkeypatch.setattr(SFTPClient, "posix_rename", unsupported)
        await write(harness, "a.txt")
        await write(harness, "empty.bin", name="a.txt", replace=True)
        assert await read(harness) == {"a.txt": b""}

    async def test_large_files_are_an_error(self, harness: StepHarness, store: Store) -> None:
        await write(harness, "a.txt")
        async with opened_storage(harness.ctx.connections["store"], seconds=20, subject="Test") as opened:
            assert await opened.read("a.txt", 3) == b"one"
            with pytest.raises(ComponentError, match="more than 2 bytes"):
                await opened.read("a.txt", 2)

    async def test_copies_large_files_in_pieces(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        if store.kind != "sftp":
            pytest.skip("copies on its server")
        monkeypatch.setattr(drivers, "PIECE_BYTES", 1_000)
        read_sizes: list[int] = []
        read_piece = SFTPClientFile.read

        async def recorded(file: SFTPClientFile, size: int = -1, offset: int | None = None) -> Any:
            read_sizes.append(size)
            return await read_piece(file, size, offset)

        content = bytes(range(250)) * 10
        harness = StepHarness(files={"a.bin": content})
        store.connect(harness)
        await write(harness, "a.bin")
        with monkeypatch.context() as patch:
            patch.setattr(SFTPClientFile, "read", recorded)
            await move(harness, path="a.bin", target="b.bin")
        assert read_sizes == [1_000, 1_000, 1_000, 1_000]
        assert await read(harness) == {"b.bin": content}

    async def test_so_are_large_folders(self, harness: StepHarness, monkeypatch: pytest.MonkeyPatch) -> None:
        await write(harness, "a.txt", ODD)
        monkeypatch.setattr(storages, "MOST_LISTED", 1)
        with pytest.raises(ComponentError, match="more than 1 entries"):
            await read(harness)

    async def test_a_wrong_secret_is_said_without_the_secret(self, store: Store) -> None:
        if store.kind in {"local_folder", "s3"}:  # moto accepts every key
            pytest.skip("has no secret")
        harness = StepHarness()
        secrets = dict.fromkeys(store.secrets, "wrong-secret-value")
        if store.kind == "gcs":
            secrets = {"key": new_key()[1]}
        if store.kind == "azure_blob":
            secrets = {"access_key": "d3Jvbmctc2VjcmV0LXZhbHVl"}
        Store(store.kind, store.fields, secrets, store.hosts).connect(harness)
        with pytest.raises(HeadgateError) as error:
            await read(harness)
        assert not any(secret in str(error.value) for secret in secrets.values())

    async def test_nothing_of_the_machine_is_used(self, harness: StepHarness, monkeypatch: pytest.MonkeyPatch) -> None:
        for name, value in MACHINE.items():
            monkeypatch.setenv(name, value)
        await write(harness, "a.txt")
        assert await read(harness) == {"a.txt": b"one"}

    async def test_addresses_are_checked(self, store: Store) -> None:
        if store.kind == "local_folder":
            pytest.skip("has no server")
        harness = StepHarness()
        store.connect(harness, allowed=False)
        with pytest.raises((Forbidden, UpstreamFailed)):
            await read(harness)


class TestLocalFolder:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        (tmp_path / "outside").mkdir()
        (tmp_path / "outside" / "secret.txt").write_text("secret")
        root = tmp_path / "opened"
        (root / "in").mkdir(parents=True)
        (root / "in" / "a.txt").write_text("one")
        return root

    @pytest.fixture
    def local(self, folder: Path) -> StepHarness:
        made = StepHarness(files={"a.txt": b"two"})
        Store("local_folder", {"folder": "files"}, {}, folder=OpenedFolder(folder, writable=True)).connect(made)
        return made

    async def test_links_lead_nowhere(self, folder: Path, local: StepHarness) -> None:
        (folder / "link").symlink_to(folder.parent / "outside")
        (folder / "in" / "secret.txt").symlink_to(folder.parent / "outside" / "secret.txt")
        assert await read(local, pattern="**") == {"in/a.txt": b"one"}
        for path in ("link/secret.txt", "in/secret.txt"):
            with pytest.raises(ComponentError, match="no such file"):
                await move(local, path=path, target="copy.txt", action="copy")
            with pytest.raises(ComponentError, match="no such file"):
                await move(local, path=path, action="delete")
        for values in ({"folder": "link"}, {"folder": "in", "name": "secret.txt"}):
            with pytest.raises(ComponentError, match="no such file"):
                await write(local, "a.txt", replace=True, **values)
        for action in ("move", "copy"):
            with pytest.raises(ComponentError, match="no such file"):
                await move(local, path="in/a.txt", target="link/new/a.txt", action=action)
        assert [path.name for path in (folder.parent / "outside").iterdir()] == ["secret.txt"]
        assert (folder.parent / "outside" / "secret.txt").read_text() == "secret"

    async def test_is_read_only_unless_it_was_opened_for_writing(self, folder: Path) -> None:
        harness = StepHarness(files={"a.txt": b"two"})
        Store("local_folder", {"folder": "files"}, {}, folder=OpenedFolder(folder)).connect(harness)
        assert await read(harness, folder="in") == {"in/a.txt": b"one"}
        with pytest.raises(ComponentError, match="reading only"):
            await write(harness, "a.txt")
        with pytest.raises(ComponentError, match="reading only"):
            await move(harness, path="in/a.txt", action="delete")
        assert await read(harness, pattern="**") == {"in/a.txt": b"one"}

    async def test_that_is_missing_is_an_error(self, tmp_path: Path) -> None:
        harness = StepHarness()
        Store("local_folder", {"folder": "files"}, {}, folder=OpenedFolder(tmp_path / "none")).connect(harness)
        with pytest.raises(ComponentError, match="does not exist"):
            await read(harness)
