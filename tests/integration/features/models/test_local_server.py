"""The local model's process and its life cycle; the process itself is a stand-in."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from headgate.features.models import errors
from headgate.features.models.local import server as server_module
from headgate.features.models.local.server import LocalModelServer, default_threads
from tests.integration.features.models.conftest import FAKE, Shop


def gone(pid: int) -> bool:
    """Whether a process ends within five seconds."""
    try:
        psutil.Process(pid).wait(5)
    except psutil.NoSuchProcess:
        return True
    except psutil.TimeoutExpired:
        return False
    return True


class TestLocalModelServer:
    def test_starts_at_the_first_call_and_stays(self, shop: Shop) -> None:
        path = shop.model("one")
        assert shop.started == []
        first = shop.server.try_acquire(path)
        second = shop.server.try_acquire(path)
        assert first is not None
        assert first is second
        assert shop.server.running == path
        assert len(shop.started) == 1

    def test_tells_the_process_what_it_needs_and_no_keys(self, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "secret")
        monkeypatch.setenv("HEADGATE_SECRET_KEY", "secret")
        endpoint = shop.server.try_acquire(shop.model("one"))
        told = shop.started[0]
        assert endpoint is not None
        assert told["token"] == endpoint.token
        assert (told["threads"], told["context"]) == (default_threads(), 8192)
        assert not {"OPENAI_API_KEY", "HEADGATE_SECRET_KEY"} & set(told["environment"])
        assert endpoint.token not in str(psutil.Process(told["pid"]).cmdline())

    def test_leaves_a_core_for_others(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for cores, threads in ((8, 7), (2, 1), (1, 1), (None, 1)):
            monkeypatch.setattr(os, "cpu_count", lambda cores=cores: cores)
            assert default_threads() == threads

    def test_changes_the_model_once_no_call_is_under_way(self, shop: Shop) -> None:
        one, two = shop.model("one"), shop.model("two")
        held = shop.server.try_acquire(one)
        assert held is not None
        assert shop.server.try_acquire(two) is None
        shop.server.release(held)
        assert shop.server.try_acquire(two) is not None
        assert shop.server.running == two
        assert gone(shop.started[0]["pid"])

    def test_a_call_of_an_earlier_process_gives_nothing_back(self, shop: Shop) -> None:
        one, two = shop.model("one"), shop.model("two")
        old = shop.server.try_acquire(one)
        assert old is not None
        os.kill(shop.started[0]["pid"], signal.SIGKILL)
        assert gone(shop.started[0]["pid"])
        new = shop.server.try_acquire(one)
        assert new is not None
        assert new.token != old.token
        shop.server.release(old)
        assert shop.server.try_acquire(two) is None

    def test_says_why_a_model_does_not_load(self, shop: Shop) -> None:
        with pytest.raises(errors.LocalModelFailed) as caught:
            shop.server.try_acquire(shop.model("refuses"))
        assert "this file is version 99" in caught.value.detail
        assert "refuses.gguf" in caught.value.detail
        assert "memory" in caught.value.remedy
        assert shop.server.running is None

    def test_survives_a_process_that_ends_without_a_word(self, shop: Shop) -> None:
        with pytest.raises(errors.LocalModelFailed, match="process ended"):
            shop.server.try_acquire(shop.model("dies"))
        assert shop.server.try_acquire(shop.model("one")) is not None

    def test_gives_up_on_a_process_that_never_answers(self, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(server_module, "_LOAD_SECONDS", 0.5)
        with pytest.raises(errors.LocalModelFailed):
            shop.server.try_acquire(shop.model("hangs"))
        assert gone(shop.started[0]["pid"])

    def test_survives_a_program_that_fails(self, shop: Shop) -> None:
        server = LocalModelServer(command=(sys.executable, "-c", "import no_such; raise SystemExit"))
        with pytest.raises(errors.LocalModelFailed):
            server.try_acquire(shop.model("one"))

    def test_ends_the_process_when_closed_and_starts_again_when_called(self, shop: Shop) -> None:
        path = shop.model("one")
        shop.server.try_acquire(path)
        shop.server.close()
        assert gone(shop.started[0]["pid"])
        assert shop.server.running is None
        assert shop.server.try_acquire(path) is not None
        assert len(shop.started) == 2

    def test_starts_one_process_for_many_threads(self, shop: Shop) -> None:
        path = shop.model("one")
        got: list[object] = []

        def take() -> None:
            while (endpoint := shop.server.try_acquire(path)) is None:
                time.sleep(0.01)
            got.append(endpoint)

        threads = [threading.Thread(target=take) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
        assert len(got) == 8
        assert len(set(map(id, got))) == 1
        assert len(shop.started) == 1

    @pytest.mark.parametrize("ending", ["kill", "exit"])
    def test_the_process_never_outlives_headgate(self, shop: Shop, tmp_path: Path, ending: str) -> None:
        path = shop.model("one")
        last = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)" if ending == "kill" else "pass"
        code = (
            "import pathlib, sys\n"
            "from headgate.features.models.local.server import LocalModelServer\n"
            f"server = LocalModelServer(command={(*FAKE, 'http://127.0.0.1:9', str(shop.log))!r})\n"
            f"server.try_acquire(pathlib.Path({str(path)!r}))\n"
            f"{last}\n"
        )
        subprocess.run([sys.executable, "-c", code], check=False, timeout=30)
        assert gone(shop.started[0]["pid"])
