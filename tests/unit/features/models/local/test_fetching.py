"""Fetches of local models in a server. The source is held by the test, so that each state is seen."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from headgate.features.models.errors import LocalModelMissing, PullFailed
from headgate.features.models.local import fetching
from headgate.features.models.local.fetching import LocalFetches
from headgate.features.models.local.models import LocalModels
from tests.support.direct import DIRECT

NAME = "qwen2.5-coder-1.5b"
PATIENCE = 60


@pytest.fixture
def fetches(tmp_path: Path) -> LocalFetches:
    return LocalFetches(LocalModels(models_dir=tmp_path), DIRECT)


def pulls(monkeypatch: pytest.MonkeyPatch, work: Callable[[Callable[[int, int], None]], None]) -> list[str]:
    """Replaces the transfer; what was started, by name."""
    started: list[str] = []

    def pull(name: str, _folder: Path, *, progress: Any, report: Any, sources: Any) -> None:
        started.append(name)
        report("Fetching.")
        work(progress)

    monkeypatch.setattr(fetching, "pull", pull)
    return started


class TestLocalFetches:
    def test_one_that_is_under_way_is_not_started_again(
        self, fetches: LocalFetches, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        begun, go = threading.Event(), threading.Event()

        def work(progress: Callable[[int, int], None]) -> None:
            progress(40, 100)
            begun.set()
            assert go.wait(PATIENCE)

        started = pulls(monkeypatch, work)
        fetch = fetches.start(NAME)
        assert begun.wait(PATIENCE)
        assert (fetch.running, fetch.done, fetch.detail) == (True, 40, "Fetching.")
        assert fetches.start(NAME) is fetch
        go.set()
        assert fetch.ended.wait(PATIENCE)
        assert (fetch.running, fetch.failed, started) == (False, False, [NAME])

    def test_is_cancelled_at_its_next_piece_and_can_be_resumed(
        self, fetches: LocalFetches, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        begun, go = threading.Event(), threading.Event()

        def work(progress: Callable[[int, int], None]) -> None:
            begun.set()
            assert go.wait(PATIENCE)
            progress(41, 100)

        started = pulls(monkeypatch, work)
        fetch = fetches.start(NAME)
        assert begun.wait(PATIENCE)
        fetches.cancel(NAME)
        go.set()
        assert fetch.ended.wait(PATIENCE)
        assert (fetch.failed, fetch.detail) == (False, "Stopped. The downloaded part is kept.")
        again = fetches.start(NAME)
        assert again.ended.wait(PATIENCE)
        assert (again is fetch, again.done, started) == (False, 41, [NAME, NAME])

    def test_one_that_fails_says_why_and_what_to_do(
        self, fetches: LocalFetches, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def work(_progress: Callable[[int, int], None]) -> None:
            raise PullFailed("No source has it.", remedy="Check the network.")

        pulls(monkeypatch, work)
        fetch = fetches.start(NAME)
        assert fetch.ended.wait(PATIENCE)
        assert (fetch.failed, fetch.detail, fetch.remedy) == (True, "No source has it.", "Check the network.")

    def test_an_unknown_name_starts_nothing(self, fetches: LocalFetches) -> None:
        with pytest.raises(LocalModelMissing):
            fetches.start("no-such-model")
        assert fetches.find("no-such-model") is None
