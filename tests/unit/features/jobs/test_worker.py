import os
import subprocess
import sys
import time
from pathlib import Path

from headgate.features.jobs.worker import Worker


class TestWorker:
    def test_has_a_name_that_fits_its_column(self, tmp_path: Path) -> None:
        names = {Worker(tmp_path).id for _ in range(100)}
        assert len(names) == 100
        assert max(len(name) for name in names) <= 64

    def test_sees_that_a_living_one_lives(self, tmp_path: Path) -> None:
        first, second = Worker(tmp_path), Worker(tmp_path)
        first.open()
        second.open()
        assert not second.is_gone(first.id)
        assert not first.is_gone(first.id)
        first.close()
        assert second.is_gone(first.id)
        second.close()

    def test_cannot_tell_of_one_it_never_saw(self, tmp_path: Path) -> None:
        assert not Worker(tmp_path).is_gone("elsewhere:1:abc")

    def test_cannot_be_led_out_of_its_folder(self, tmp_path: Path) -> None:
        (tmp_path / "secret.lock").touch()
        worker = Worker(tmp_path / "workers")
        worker.open()
        assert not worker.is_gone("../secret")
        worker.close()

    def test_sees_at_once_that_a_process_was_killed(self, tmp_path: Path) -> None:
        code = (
            "import sys; from pathlib import Path; from headgate.features.jobs.worker import Worker;"
            "w = Worker(Path(sys.argv[1])); w.open(); print(w.id, flush=True); sys.stdin.read()"
        )
        process = subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        name = process.stdout.readline().strip()
        mine = Worker(tmp_path)
        assert not mine.is_gone(name)
        process.kill()
        process.communicate()
        assert mine.is_gone(name)

    def test_forgets_those_that_ended_long_ago(self, tmp_path: Path) -> None:
        old, recent = tmp_path / "old.lock", tmp_path / "recent.lock"
        old.touch()
        recent.touch()
        os.utime(old, (time.time() - 100_000, time.time() - 100_000))
        worker = Worker(tmp_path)
        worker.open()
        assert (old.exists(), recent.exists()) == (False, True)
        worker.close()
