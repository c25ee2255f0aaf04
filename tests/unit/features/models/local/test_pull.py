import hashlib
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from headgate.features.models.errors import BadModelFile, LocalModelMissing, PullFailed
from headgate.features.models.local import conversion, store
from headgate.features.models.local import pull as pulling
from headgate.features.models.local.lock import exclusive
from headgate.features.models.local.pull import pull
from headgate.features.models.local.sources import Progress
from headgate.features.models.local.weights import WEIGHTS, Weights
from headgate.foundation.errors import Unavailable

NAME = "qwen2.5-coder-1.5b"
CONTENT = b"GGUF" + bytes(range(256)) * 20


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> Weights:
    """The table's weights with five kilobytes in place of a gigabyte."""
    weights = replace(WEIGHTS[NAME], size=len(CONTENT), sha256=hashlib.sha256(CONTENT).hexdigest())
    monkeypatch.setattr(pulling, "find_weights", lambda _name: weights)
    return weights


@dataclass
class FakeSource:
    """Writes what it is told to, from where the file ends."""

    content: bytes = CONTENT
    fails_after: int | None = None
    label: str = "a fake source"
    started_at: list[int] = field(default_factory=list)

    def fetch(self, weights: Weights, partial: Path, progress: Progress) -> None:
        with partial.open("ab") as file:
            start = file.tell()
            self.started_at.append(start)
            end = len(self.content) if self.fails_after is None else self.fails_after
            file.write(self.content[start:end])
        progress(end, weights.size)
        if self.fails_after is not None:
            raise PullFailed(f"{self.label} stopped.")


class TestPull:
    def test_puts_verified_weights_in_place(self, tmp_path: Path) -> None:
        seen: list[tuple[int, int]] = []
        lines: list[str] = []
        model = pull(
            NAME, tmp_path / "new", progress=lambda *at: seen.append(at), report=lines.append, sources=[FakeSource()]
        )
        assert model.path is not None
        assert model.path.read_bytes() == CONTENT
        assert seen[-1] == (len(CONTENT), len(CONTENT))
        assert "Verifying SHA-256." in lines
        assert not store.partial_path(tmp_path / "new", NAME).exists()

    def test_does_nothing_when_it_is_there(self, tmp_path: Path) -> None:
        pull(NAME, tmp_path, sources=[FakeSource()])
        again = FakeSource()
        lines: list[str] = []
        assert pull(NAME, tmp_path, sources=[again], report=lines.append).ready
        assert again.started_at == []
        assert "is already downloaded" in lines[0]

    def test_falls_back_to_the_second_source_and_says_so(self, tmp_path: Path) -> None:
        lines: list[str] = []
        first = FakeSource(fails_after=100, label="the first")
        second = FakeSource(label="the second")
        assert pull(NAME, tmp_path, sources=[first, second], report=lines.append).ready
        assert second.started_at == [100]
        assert "the first stopped. Trying the second instead." in lines

    def test_continues_what_was_interrupted(self, tmp_path: Path) -> None:
        def stop(_done: int, _total: int) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            pull(NAME, tmp_path, sources=[FakeSource(fails_after=1000)], progress=stop)
        later = FakeSource()
        assert pull(NAME, tmp_path, sources=[later]).ready
        assert later.started_at == [1000]

    def test_throws_away_wrong_bytes_and_tries_the_next(self, tmp_path: Path) -> None:
        wrong = FakeSource(content=CONTENT[:-1] + b"?", label="the wrong one")
        right = FakeSource()
        assert pull(NAME, tmp_path, sources=[wrong, right]).ready
        assert right.started_at == [0]

    def test_never_puts_wrong_bytes_in_place(self, tmp_path: Path) -> None:
        with pytest.raises(PullFailed, match="SHA-256 differs"):
            pull(NAME, tmp_path, sources=[FakeSource(content=b"x" * len(CONTENT))])
        assert not (tmp_path / f"{NAME}.gguf").exists()
        assert not store.partial_path(tmp_path, NAME).exists()

    def test_tells_the_reason_of_every_source(self, tmp_path: Path) -> None:
        with pytest.raises(PullFailed) as caught:
            pull(NAME, tmp_path, sources=[FakeSource(fails_after=1, label="A"), FakeSource(fails_after=2, label="B")])
        assert "A: A stopped." in caught.value.detail
        assert "B: B stopped." in caught.value.detail
        assert "the download continues" in caught.value.remedy

    def test_refuses_weights_that_are_no_model(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        content = b"ELF!" + CONTENT
        weights = replace(WEIGHTS[NAME], size=len(content), sha256=hashlib.sha256(content).hexdigest())
        monkeypatch.setattr(pulling, "find_weights", lambda _name: weights)
        with pytest.raises(BadModelFile):
            pull(NAME, tmp_path, sources=[FakeSource(content=content)])
        assert not (tmp_path / f"{NAME}.gguf").exists()

    def test_refuses_before_fetching_when_the_disk_is_short(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: Weights
    ) -> None:
        monkeypatch.setattr(pulling, "find_weights", lambda _name: replace(small, size=10**18))
        source = FakeSource()
        with pytest.raises(Unavailable, match="GB are needed"):
            pull(NAME, tmp_path, sources=[source])
        assert source.started_at == []

    @pytest.mark.parametrize("number", [28, 13, 30])
    def test_explains_a_disk_that_refuses(self, tmp_path: Path, number: int) -> None:
        class Full(FakeSource):
            def fetch(self, weights: Weights, partial: Path, progress: Progress) -> None:
                raise OSError(number, "No space left on device")

        with pytest.raises(Unavailable) as caught:
            pull(NAME, tmp_path, sources=[Full()])
        assert "No space left on device" in caught.value.detail
        assert "pull again" in caught.value.remedy

    def test_lets_only_one_pull_of_a_model_run(self, tmp_path: Path) -> None:
        with (
            exclusive(store.partial_path(tmp_path, NAME).with_suffix(".lock"), what="pull"),
            pytest.raises(Unavailable, match="is running"),
        ):
            pull(NAME, tmp_path, sources=[FakeSource()])
        assert pull(NAME, tmp_path, sources=[FakeSource()]).ready


class TestConverted:
    def test_fetches_the_vocabulary_too_and_keeps_only_the_result(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        contents = {"minilm": b"weights" * 50, "minilm-vocabulary": b"[PAD]\n"}

        def described(name: str, **changes: object) -> Weights:
            content = contents[name]
            known = WEIGHTS["all-minilm-l6-v2"]
            digest = hashlib.sha256(content).hexdigest()
            return replace(known, name=name, size=len(content), sha256=digest, **changes)  # type: ignore[arg-type]

        weights = described("minilm", vocabulary=described("minilm-vocabulary", vocabulary=None))
        monkeypatch.setattr(pulling, "find_weights", lambda _name: weights)

        @dataclass
        class Each(FakeSource):
            def fetch(self, weights: Weights, partial: Path, progress: Progress) -> None:
                partial.write_bytes(contents[weights.name])

        def convert(path: Path, vocabulary: Path, target: Path, _name: str) -> None:
            target.write_bytes(CONTENT + path.read_bytes() + vocabulary.read_bytes())

        monkeypatch.setattr(conversion, "convert", convert)
        assert pull("minilm", tmp_path, sources=[Each()]).ready
        assert sorted(path.name for path in tmp_path.iterdir()) == [".minilm.lock", "minilm.gguf"]
        assert (tmp_path / "minilm.gguf").read_bytes() == CONTENT + b"".join(contents.values())


class TestPullByName:
    def test_names_what_can_be_pulled(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.undo()
        with pytest.raises(LocalModelMissing, match="qwen2"):
            pull("gpt-5", tmp_path, sources=[])


class TestExclusive:
    def test_is_free_again_after_a_failure(self, tmp_path: Path) -> None:
        path = tmp_path / "x.lock"

        def fail() -> None:
            with exclusive(path, what="thing"):
                raise ValueError("inside")

        with pytest.raises(ValueError, match="inside"):
            fail()
        with exclusive(path, what="thing"), pytest.raises(Unavailable), exclusive(path, what="thing"):
            pass
