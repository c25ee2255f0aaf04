import asyncio
import contextlib
import os
import platform
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from headgate.sandbox.errors import CodeFailed, SandboxUnavailable
from headgate.sandbox.limits import Limits, PoolSize
from headgate.sandbox.pool import SandboxPool
from headgate.sandbox.report import Layer, SandboxReport
from headgate.sandbox.workers import launcher, stock
from headgate.sandbox.workers.worker import Worker, folder_excess, process_seconds
from headgate.sdk import CodeRunner
from tests.support.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.isolated

WHO = "import os\ndef run(inputs): return [os.getpid(), os.getppid()]"
SLEEP = "import time\ndef run(inputs): time.sleep(60)"
INCOMPLETE = SandboxReport((Layer("landlock", present=False, detail="simulated", remedy="Use another kernel"),))


async def processes(runner: CodeRunner) -> tuple[int, int]:
    """Worker and zygote that served a call."""
    result = await runner.call(WHO, "run", {"inputs": None})
    assert isinstance(result, list)
    worker, zygote = result
    assert isinstance(worker, int)
    assert isinstance(zygote, int)
    return worker, zygote


def process_status(process: int) -> dict[str, str]:
    """What the kernel says of a process."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def exists(path: str) -> bool:
    """Whether anything has that name."""
    return os.path.lexists(path)


async def gone(*ids: int, seconds: float = 5.0) -> bool:
    """Whether the processes end soon."""
    for _ in range(int(seconds / 0.02)):
        if not any(psutil.pid_exists(number) for number in ids):
            return True
        await asyncio.sleep(0.02)
    return False


class TestProcesses:
    async def test_start_on_first_use(self, pool: SandboxPool) -> None:
        assert pool._stock._launcher is None
        await processes(pool.runner("alice"))
        assert pool._stock._launcher is not None

    async def test_are_gone_after_closing_and_so_are_their_files(self) -> None:
        pool = SandboxPool(scan=False)
        worker, zygote = await processes(pool.runner("alice"))
        assert pool._stock._launcher is not None
        root = pool._stock._launcher.root
        children = [child.pid for child in psutil.Process(zygote).children(recursive=True)]
        assert worker in children
        assert root.exists()
        await pool.aclose()
        assert await gone(zygote, *children)
        assert not root.exists()

    async def test_are_closed_in_the_middle_of_a_call(self) -> None:
        pool = SandboxPool(scan=False)
        await processes(pool.runner("alice"))
        call = asyncio.create_task(pool.runner("alice").call(SLEEP, "run", {"inputs": None}))
        await asyncio.sleep(0.2)
        await pool.aclose()
        with pytest.raises(CodeFailed, match="its process ended"):
            await call

    async def test_end_with_a_cancelled_call(self, pool: SandboxPool) -> None:
        _, zygote = await processes(pool.runner("alice"))
        call = asyncio.create_task(pool.runner("alice").call(SLEEP, "run", {"inputs": None}))
        await asyncio.sleep(0.2)
        before = {child.pid for child in psutil.Process(zygote).children()}
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        async with asyncio.timeout(PATIENCE_SECONDS):
            while len(left := before & {child.pid for child in psutil.Process(zygote).children()}) == len(before):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert len(left) == len(before) - 1
        await processes(pool.runner("alice"))

    async def test_come_back_after_the_zygote_was_killed(self, pool: SandboxPool) -> None:
        worker, zygote = await processes(pool.runner("alice"))
        assert pool._stock._launcher is not None
        root = pool._stock._launcher.root
        os.kill(zygote, signal.SIGKILL)
        assert await gone(worker)
        another, _ = await processes(pool.runner("alice"))
        assert another != worker
        assert not root.exists(), "what the killed one left is cleared away"

    async def test_come_back_after_an_idle_worker_was_killed(self, pool: SandboxPool) -> None:
        alice = pool.runner("alice")
        worker, _ = await processes(alice)
        os.kill(worker, signal.SIGKILL)
        await gone(worker)
        await asyncio.sleep(0.05)
        another, _ = await processes(alice)
        assert another != worker

    async def test_do_not_heed_a_terminals_interrupt(self, pool: SandboxPool) -> None:
        alice = pool.runner("alice")
        worker, zygote = await processes(alice)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(zygote, number)
        assert await processes(alice) == (worker, zygote)

    async def test_share_no_session_with_the_server(self, pool: SandboxPool) -> None:
        worker, zygote = await processes(pool.runner("alice"))
        assert len({os.getsid(worker), os.getsid(zygote), os.getsid(0)}) == 3

    async def test_free_their_slots(self, pool: SandboxPool) -> None:
        for number in range(6):
            await pool.runner("alice").call(WHO + "#" * number, "run", {"inputs": None})
        for _ in range(100):
            await asyncio.sleep(0.02)
            if len(pool._stock._slots) <= 4:
                break
        assert max(pool._stock._slots) < 8
        assert len(pool._stock._slots) <= 4


class TestServerDeath:
    async def test_takes_every_process_and_file_along(self, tmp_path: Path) -> None:
        script = tmp_path / "server.py"
        script.write_text(
            f"""
import asyncio, pathlib
from headgate.sandbox.pool import SandboxPool
async def main():
    pool = SandboxPool(scan=False)
    ids = await pool.runner("alice").call({WHO!r}, "run", {{"inputs": None}})
    print(*ids, pool._stock._launcher.root, flush=True)
    endless = "def run(inputs):\\n    while True: pass"
    await pool.runner("alice").call(endless, "run", {{"inputs": None}}, timeout_seconds=60)
asyncio.run(main())
"""
        )
        server = await asyncio.create_subprocess_exec(sys.executable, str(script), stdout=asyncio.subprocess.PIPE)
        assert server.stdout is not None
        worker, zygote, root = (await server.stdout.readline()).decode().split()
        await asyncio.sleep(0.3)
        busy = [child.pid for child in psutil.Process(int(zygote)).children()]
        server.kill()
        await server.wait()
        assert await gone(int(worker), int(zygote), *busy)
        assert not exists(root)


class TestUnavailable:
    async def test_refuses_by_default_where_a_layer_is_missing(self) -> None:
        pool = SandboxPool(scan=False, probe=lambda: INCOMPLETE)
        with pytest.raises(SandboxUnavailable, match=r"missing: landlock \(simulated\)") as caught:
            await processes(pool.runner("alice"))
        assert caught.value.remedy.startswith("Use another kernel")
        assert pool._stock._launcher is None
        await pool.aclose()

    async def test_runs_there_when_the_operator_opts_out_and_says_so(self, caplog: pytest.LogCaptureFixture) -> None:
        pool = SandboxPool(scan=False, insecure=True, probe=lambda: INCOMPLETE)
        worker, _ = await processes(pool.runner("alice"))
        assert worker != os.getpid()
        assert "NOT isolated" in caplog.text
        assert "landlock" in caplog.text
        await pool.aclose()

    async def test_isolates_all_the_same_where_nothing_is_missing(self, caplog: pytest.LogCaptureFixture) -> None:
        pool = SandboxPool(scan=False, insecure=True)
        with pytest.raises(CodeFailed, match="PermissionError"):
            await pool.runner("alice").call(
                "def run(inputs): return open('/etc/passwd').read()", "run", {"inputs": None}
            )
        assert caplog.text == ""
        await pool.aclose()

    async def test_says_when_a_worker_could_not_be_locked_down(self) -> None:
        pool = SandboxPool(scan=False, limits=Limits(file_bytes=1 << 70), size=PoolSize(spare=0))
        with pytest.raises(SandboxUnavailable, match="could not be locked down"):
            await processes(pool.runner("alice"))
        await pool.aclose()

    async def test_refuses_where_nothing_can_be_forked(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delattr(os, "fork")
        pool = SandboxPool(scan=False, insecure=True, probe=lambda: INCOMPLETE)
        with pytest.raises(SandboxUnavailable, match="forked processes"):
            await processes(pool.runner("alice"))
        await pool.aclose()

    async def test_says_when_the_zygote_does_not_start(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "executable", "/nonexistent/python")
        pool = SandboxPool(scan=False)
        with pytest.raises(SandboxUnavailable, match="did not start"):
            await processes(pool.runner("alice"))
        await pool.aclose()

    async def test_says_when_there_is_no_folder_for_temporary_files(self, tmp_path: Path) -> None:
        pool = SandboxPool(scan=False, temporary=tmp_path / "missing")
        with pytest.raises(SandboxUnavailable, match=r"^The sandbox process did not become ready") as caught:
            await processes(pool.runner("alice"))
        assert "temporary files" in caught.value.remedy
        await pool.aclose()

    async def test_says_when_the_zygote_is_late(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(launcher, "START_SECONDS", 0.001)
        pool = SandboxPool(scan=False)
        with pytest.raises(SandboxUnavailable, match=r"^The sandbox process was not ready within 0\.001") as caught:
            await processes(pool.runner("alice"))
        assert "temporary files" not in caught.value.remedy
        await pool.aclose()


class TestPrivileges:
    async def ids(self, pool: SandboxPool) -> list[int]:
        code = "import os\ndef run(inputs): return [*os.getresuid(), *os.getresgid(), *os.getgroups()]"
        result = await pool.runner("alice").call(code, "run", {"inputs": None})
        assert isinstance(result, list)
        return [number for number in result if isinstance(number, int)]

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
    async def test_become_a_user_of_ones_own_as_root(self, pool: SandboxPool) -> None:
        ids = await self.ids(pool)
        assert len(set(ids)) == 1
        assert len(ids) == 6
        assert ids[0] >= stock.FIRST_USER

    @pytest.mark.skipif(os.geteuid() == 0, reason="as root, workers become somebody else")
    async def test_stay_the_servers_user_otherwise(self, pool: SandboxPool) -> None:
        assert (await self.ids(pool))[:3] == [os.getuid()] * 3

    async def test_keep_no_capability_and_gain_none(self, pool: SandboxPool) -> None:
        worker, _ = await processes(pool.runner("alice"))
        status = process_status(worker)
        assert {status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {"0" * 16}
        assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")


class TestFolderExcess:
    @pytest.mark.parametrize(
        ("size", "entries", "words"), [(10, 5, ""), (300_000, 5, "bytes of files"), (10, 30, "files and folders")]
    )
    def test_weighs_and_counts(self, tmp_path: Path, size: int, entries: int, words: str) -> None:
        for number in range(entries):
            (tmp_path / f"f{number}").write_bytes(b"x" * size)
        limits = Limits(scratch_bytes=1_000_000, scratch_entries=20, disk_reserve_bytes=0)
        assert words in folder_excess(tmp_path, limits)
        assert bool(folder_excess(tmp_path, limits)) == bool(words)

    def test_counts_what_is_left_when_files_vanish_meanwhile(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A file that goes between being listed and being weighed excuses no other."""
        for number in range(5):
            (tmp_path / f"f{number}").write_bytes(b"x" * 300_000)
        (tmp_path / "goes").mkdir()
        scan = os.scandir

        @contextmanager
        def vanishing(folder: str) -> Iterator[Iterator[os.DirEntry[str]]]:
            with scan(folder) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
                (tmp_path / "f0").unlink()
                (tmp_path / "goes").rmdir()
                yield iter(listed)

        monkeypatch.setattr(os, "scandir", vanishing)
        limits = Limits(scratch_bytes=1_000_000, scratch_entries=20, disk_reserve_bytes=0)
        assert "bytes of files" in folder_excess(tmp_path, limits)

    def test_forgives_files_that_vanish(self, tmp_path: Path) -> None:
        assert folder_excess(tmp_path / "gone", Limits()) == ""


class TestProcessSeconds:
    def test_grow_with_what_a_process_computes(self) -> None:
        with subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) as process:
            first = process_seconds(process.pid)
            for _ in range(200):
                if process_seconds(process.pid) > first + 0.05:
                    break
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(0.05)
            assert process_seconds(process.pid) > first + 0.05
            process.kill()

    def test_are_none_for_a_process_that_is_not_there(self) -> None:
        assert process_seconds(2**22 + 1) == 0.0


class TestLeftTraces:
    def test_are_assumed_when_the_folder_cannot_be_seen(self, tmp_path: Path) -> None:
        worker = Worker.__new__(Worker)
        with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
            worker.process = process.pid
            worker.scratch = tmp_path
            assert not worker.left_traces()
            worker.scratch = tmp_path / "gone"
            assert worker.left_traces()
            process.kill()


class TestThisMachine:
    def test_is_one_the_tables_know(self) -> None:
        assert platform.machine() in {"x86_64", "aarch64"}
