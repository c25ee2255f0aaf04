import asyncio
import hashlib
import time
from pathlib import Path
from typing import Any

import pytest
import uvloop

from headgate.foundation.errors import Invalid
from headgate.sandbox.errors import CodeFailed, CodeRefused, CodeTimedOut, CodeTooBig, SandboxBusy, SandboxUnavailable
from headgate.sandbox.limits import Limits, PoolSize
from headgate.sandbox.pool import SandboxPool
from headgate.sdk import CodeRunner
from tests.support.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.isolated

WHO = "import os\ndef run(inputs): return os.getpid()"
ENDLESS = "def run(inputs):\n    while True: pass"
DOUBLE = "def run(inputs): return inputs * 2"


TRACES = {
    "file": "open('left', 'w').close()",
    "waiting thread": "threading.Thread(target=threading.Event().wait, daemon=True).start()",
    "computing thread": "threading.Thread(target=lambda: [None for _ in iter(int, 1)], daemon=True).start()",
    "timer": "threading.Timer(0.05, print).start()",
}
"""Lines of code that leave something in their process."""


async def who(runner: CodeRunner, code: str = WHO) -> int:
    """The process that served a call."""
    process = await runner.call(code, "run", {"inputs": None})
    assert isinstance(process, int)
    return process


class TestCall:
    async def test_is_what_components_expect_of_a_code_runner(self, pool: SandboxPool) -> None:
        runner: CodeRunner = pool.runner("alice")
        assert await runner.call(DOUBLE, "run", {"inputs": 21}, timeout_seconds=5) == 42

    @pytest.mark.parametrize("value", [None, True, 0, -(2**63), 2**64 - 1, 1.5, "å\n\0𝔘", [], {"a": [1, {"b": None}]}])
    async def test_carries_json_there_and_back(self, pool: SandboxPool, value: Any) -> None:
        assert await pool.runner("alice").call("def run(inputs): return inputs", "run", {"inputs": value}) == value

    async def test_carries_megabytes(self, pool: SandboxPool) -> None:
        text = "0123456789abcdef" * (7 << 16)
        assert await pool.runner("alice").call("def run(inputs): return inputs", "run", {"inputs": text}) == text

    async def test_may_import_what_is_not_loaded_yet(self, pool: SandboxPool) -> None:
        code = """
def run(inputs):
    import email.mime.text, sqlite3, xml.dom.minidom, colorsys
    import jmespath
    database = sqlite3.connect(":memory:")
    return [jmespath.search("a.b", inputs), database.execute("select 1 + 1").fetchone()[0]]
"""
        assert await pool.runner("alice").call(code, "run", {"inputs": {"a": {"b": 1}}}) == [1, 2]

    @pytest.mark.parametrize("journal", ["delete", "truncate", "memory"])
    async def test_may_keep_a_database_in_its_scratch_folder(self, pool: SandboxPool, journal: str) -> None:
        code = """
import os, sqlite3, tempfile
def run(inputs):
    with tempfile.TemporaryDirectory() as folder:
        place = os.path.join(folder, "rows.db")
        first, second = sqlite3.connect(place), sqlite3.connect(place)
        first.execute("pragma journal_mode=" + inputs)
        first.execute("create table t (n integer)")
        with first:
            first.executemany("insert into t values (?)", [(n,) for n in range(1000)])
        with second:
            second.execute("update t set n = n + 1")
        total = first.execute("select sum(n) from t").fetchone()[0]
        first.close()
        second.close()
        return total
"""
        assert await pool.runner("alice").call(code, "run", {"inputs": journal}) == 500_500

    async def test_has_no_lock_that_another_worker_could_see(self, pool: SandboxPool) -> None:
        """A lock on a file that workers share, as libraries are, would tell another tenant a bit at a time."""
        code = """
import fcntl, struct, tempfile
def run(inputs):
    answers = []
    with tempfile.TemporaryFile() as shared:
        probe = struct.pack("hhqqi", fcntl.F_WRLCK, 0, 0, 0, 0)
        for ask in (
            lambda: fcntl.flock(shared, fcntl.LOCK_EX | fcntl.LOCK_NB),
            lambda: fcntl.fcntl(shared, fcntl.F_GETLK, probe),
            lambda: fcntl.fcntl(shared, 36, probe),
            lambda: fcntl.fcntl(shared, 37, probe),
            lambda: fcntl.fcntl(shared, fcntl.F_SETLEASE, fcntl.F_RDLCK),
            lambda: fcntl.fcntl(shared, fcntl.F_GETLEASE),
        ):
            try:
                ask()
                answers.append("answered")
            except PermissionError:
                answers.append("refused")
    return answers
"""
        assert await pool.runner("alice").call(code, "run", {"inputs": 0}) == ["refused"] * 6

    async def test_may_use_threads_asyncio_and_temporary_files(self, pool: SandboxPool) -> None:
        code = """
import asyncio, concurrent.futures, os, tempfile
async def run(inputs):
    await asyncio.sleep(0.001)
    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        squares = list(threads.map(lambda n: n * n, inputs))
    with tempfile.TemporaryDirectory() as folder, open(os.path.join(folder, "f"), "w+") as file:
        file.write("kept")
        file.seek(0)
        with tempfile.TemporaryFile() as other, tempfile.NamedTemporaryFile() as named:
            other.write(b"x")
            named.write(b"x")
        return [squares, file.read()]
"""
        assert await pool.runner("alice").call(code, "run", {"inputs": [1, 2, 3]}) == [[1, 4, 9], "kept"]

    async def test_sees_no_environment_of_the_server(self, pool: SandboxPool, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HEADGATE_SECRET_KEY", "never to be seen")
        code = "import os\ndef run(inputs): return dict(os.environ)"
        environment = await pool.runner("alice").call(code, "run", {"inputs": None})
        assert isinstance(environment, dict)
        assert set(environment) == {"HOME", "LANG", "PATH", "TMPDIR"}

    async def test_inherits_no_descriptors_of_the_server(self, pool: SandboxPool) -> None:
        code = """
import os, stat
def run(inputs):
    kinds = []
    for descriptor in range(1000):
        try:
            kinds.append(stat.S_IFMT(os.fstat(descriptor).st_mode))
        except OSError:
            pass
    return [kinds.count(stat.S_IFCHR), kinds.count(stat.S_IFSOCK), kinds.count(stat.S_IFREG), kinds.count(stat.S_IFIFO)]
"""
        assert await pool.runner("alice").call(code, "run", {"inputs": None}) == [3, 1, 0, 0]

    async def test_tells_the_users_own_error_and_line(self, pool: SandboxPool) -> None:
        code = "def helper(x):\n    return 1 / x\n\ndef run(inputs):\n    return helper(inputs)\n"
        with pytest.raises(CodeFailed, match=r"ZeroDivisionError: division by zero \(line 2: return 1 / x\)") as caught:
            await pool.runner("alice").call(code, "run", {"inputs": 0})
        assert caught.value.extra["frames"] == [
            {"line": 5, "function": "run", "source": "return helper(inputs)"},
            {"line": 2, "function": "helper", "source": "return 1 / x"},
        ]

    @pytest.mark.parametrize(
        ("code", "inputs", "error"),
        [
            ("x" * 100_001, 1, CodeTooBig),
            (DOUBLE, "x" * (16 << 20), CodeTooBig),
            (DOUBLE, 2**70, Invalid),
            (DOUBLE, "\ud800", Invalid),
            ("# \ud800", 1, Invalid),
        ],
    )
    async def test_refuses_what_it_will_not_carry(
        self, pool: SandboxPool, code: str, inputs: Any, error: type[Exception]
    ) -> None:
        with pytest.raises(error):
            await pool.runner("alice").call(code, "run", {"inputs": inputs})

    async def test_takes_the_largest_code_there_may_be(self, pool: SandboxPool) -> None:
        code = DOUBLE + "\n#" + "\x01" * (100_000 - len(DOUBLE) - 2)
        assert await pool.runner("alice").call(code, "run", {"inputs": 2}) == 4

    async def test_keeps_the_event_loop_free(self, pool: SandboxPool) -> None:
        await who(pool.runner("alice"))
        sleeping = asyncio.create_task(
            pool.runner("alice").call("import time\ndef run(inputs): time.sleep(0.3)", "run", {"inputs": None})
        )
        longest = 0.0
        while not sleeping.done():
            before = time.perf_counter()
            await asyncio.sleep(0.005)
            longest = max(longest, time.perf_counter() - before)
        assert longest < 0.2

    def test_works_on_the_servers_event_loop(self) -> None:
        async def once() -> object:
            pool = SandboxPool()
            try:
                return await pool.runner("alice").call(DOUBLE, "run", {"inputs": "ab"})
            finally:
                await pool.aclose()

        assert uvloop.run(once()) == "abab"


class TestScan:
    async def test_answers_before_anything_runs(self) -> None:
        pool = SandboxPool()
        with pytest.raises(CodeRefused, match="line 1: 'subprocess' cannot be imported"):
            await pool.runner("alice").call("import subprocess\ndef run(inputs): pass", "run", {"inputs": None})
        assert pool._stock._launcher is None
        await pool.aclose()


class TestReuse:
    async def test_keeps_a_worker_for_the_same_execution_and_code(self, pool: SandboxPool) -> None:
        alice = pool.runner("alice")
        assert await who(alice) == await who(alice)

    async def test_gives_it_to_no_other_execution(self, pool: SandboxPool) -> None:
        """Of whatever run, space or person, with the same code for the same tenant."""
        served = [await who(pool.runner(tenant)) for tenant in ("alice", "alice", "bob")]
        assert len(set(served)) == 3

    async def test_gives_it_to_no_other_code(self, pool: SandboxPool) -> None:
        alice = pool.runner("alice")
        assert await who(alice) != await who(alice, WHO + "\n")

    async def test_ends_its_workers_with_the_execution(self, pool: SandboxPool) -> None:
        with pool.runner("alice") as alice:
            process = await who(alice)
        async with asyncio.timeout(60):
            while Path(f"/proc/{process}").exists():  # noqa: ASYNC110, ASYNC240 - the zygote ends it
                await asyncio.sleep(0.01)
        assert pool._stock._idle == []

    async def test_ends_a_worker_whose_execution_ended_during_its_call(self, pool: SandboxPool) -> None:
        alice = pool.runner("alice")
        call = asyncio.create_task(alice.call("import time\ndef run(inputs): time.sleep(0.2)", "run", {"inputs": None}))
        await asyncio.sleep(0.1)
        alice.close()
        await call
        assert pool._stock._idle == []

    async def test_ends_a_worker_that_failed(self, pool: SandboxPool) -> None:
        code = "import os\ndef run(inputs):\n    return os.getpid() if inputs else 1 / 0"
        alice = pool.runner("alice")
        first = await alice.call(code, "run", {"inputs": 1})
        with pytest.raises(CodeFailed):
            await alice.call(code, "run", {"inputs": 0})
        assert await alice.call(code, "run", {"inputs": 1}) != first

    @pytest.mark.parametrize("trace", TRACES)
    async def test_ends_a_worker_that_left_something_behind(self, pool: SandboxPool, trace: str) -> None:
        code = f"import os, threading, time\ndef run(inputs):\n    {TRACES[trace]}\n    return os.getpid()"
        alice = pool.runner("alice")
        first = await alice.call(code, "run", {"inputs": None})
        assert pool._stock._idle == []
        assert await alice.call(code, "run", {"inputs": None}) != first

    async def test_leaves_no_timer_to_the_code(self, pool: SandboxPool) -> None:
        code = """
import signal
def run(inputs):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
    except OSError:
        return signal.alarm(1) in (-1, 2**32 - 1)  # an error, which Python does not look for
"""
        assert await pool.runner("alice").call(code, "run", {"inputs": None}) is True

    async def test_leaves_no_callback_in_the_event_loop(self, pool: SandboxPool) -> None:
        code = """
import asyncio
late = []
async def run(inputs):
    asyncio.get_running_loop().call_later(0.05, late.append, "late")
    if inputs:
        await asyncio.sleep(inputs)
    return list(late)
"""
        alice = pool.runner("alice")
        assert await alice.call(code, "run", {"inputs": 0}) == []
        await asyncio.sleep(0.1)
        assert await alice.call(code, "run", {"inputs": 0.2}) == ["late"]

    async def test_ends_a_worker_after_its_last_call(self) -> None:
        pool = SandboxPool(scan=False, size=PoolSize(calls=2, spare=0))
        alice = pool.runner("alice")
        served = [await who(alice) for _ in range(4)]
        assert served[0] == served[1] != served[2] == served[3]
        await pool.aclose()

    async def test_ends_idle_workers_in_time(self) -> None:
        pool = SandboxPool(scan=False, size=PoolSize(idle_seconds=0.1, spare=0))
        alice = pool.runner("alice")
        first = await who(alice)
        async with asyncio.timeout(PATIENCE_SECONDS):
            while pool._stock._idle:  # noqa: ASYNC110 - the pool tells nobody
                await asyncio.sleep(0.01)
        assert await who(alice) != first
        await pool.aclose()

    async def test_keeps_no_more_than_it_may(self) -> None:
        pool = SandboxPool(scan=False, size=PoolSize(idle=2, spare=0))
        runners = [pool.runner(f"tenant{number}") for number in range(5)]
        served = [await who(runner) for runner in runners]
        assert [worker.process for worker in pool._stock._idle] == served[3:]
        await pool.aclose()

    async def test_refuses_an_answer_that_was_sent_ahead(self, pool: SandboxPool) -> None:
        code = """
import os, stat
def run(inputs):
    for number in range(3):
        payload = b'{"id": %d, "value": "a lie"}' % number
        for descriptor in range(3, 64):
            try:
                if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                    os.write(descriptor, len(payload).to_bytes(4, "big") + payload)
            except OSError:
                pass
    return "the truth"
"""
        mallory = pool.runner("mallory")
        for _ in range(2):
            with pytest.raises(CodeFailed, match="does not belong to this call"):
                await mallory.call(code, "run", {"inputs": None})

    async def test_ends_a_thread_that_waits_to_answer_the_next_call(self, pool: SandboxPool) -> None:
        code = """
import json, threading, time
def run(inputs):
    def lie():
        time.sleep(0.1)
        json.dumps = lambda *things, **named: "a lie"
    threading.Thread(target=lie).start()
    return "first"
"""
        mallory = pool.runner("mallory")
        assert await mallory.call(code, "run", {"inputs": None}) == "first"
        await asyncio.sleep(0.3)
        assert await mallory.call(code, "run", {"inputs": None}) == "first"


class TestTenants:
    async def test_see_nothing_of_what_another_replaced(self, pool: SandboxPool) -> None:
        spoil = """
import builtins, json, random
def run(inputs):
    builtins.sorted = lambda things: "spoiled"
    json.loads = lambda text: "spoiled"
    random.random = lambda: 4
    return "spoiled"
"""
        look = """
import json, random
def run(inputs): return [sorted("ba"), json.loads("1"), random.random() < 1]
"""
        mallory = pool.runner("mallory")
        assert await mallory.call(spoil, "run", {"inputs": None}) == "spoiled"
        assert await pool.runner("alice").call(look, "run", {"inputs": None}) == [["a", "b"], 1, True]
        assert await pool.runner("mallory").call(look, "run", {"inputs": None}) == [["a", "b"], 1, True]

    async def test_see_no_variables_of_each_other(self, pool: SandboxPool) -> None:
        code = "kept = []\ndef run(inputs):\n    kept.append(inputs)\n    return kept"
        assert await pool.runner("alice").call(code, "run", {"inputs": "a"}) == ["a"]
        assert await pool.runner("bob").call(code, "run", {"inputs": "b"}) == ["b"]

    async def test_draw_different_random_numbers(self, pool: SandboxPool) -> None:
        code = "import random, uuid\ndef run(inputs): return [random.random(), str(uuid.uuid4())]"
        drawn = [await pool.runner(tenant).call(code, "run", {"inputs": None}) for tenant in ("a", "b", "c")]
        assert len({str(draw) for draw in drawn}) == 3

    async def test_have_scratch_folders_of_their_own(self, pool: SandboxPool) -> None:
        code = "import os\ndef run(inputs): return os.environ['TMPDIR']"
        alice = await pool.runner("alice").call(code, "run", {"inputs": None})
        peek = "import os\ndef run(inputs): return os.listdir(inputs)"
        with pytest.raises(CodeFailed, match="PermissionError"):
            await pool.runner("bob").call(peek, "run", {"inputs": alice})


class TestLimits:
    async def test_stop_a_call_at_its_time(self, pool: SandboxPool) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            with pytest.raises(CodeTimedOut, match=r"run\(\) took longer than 0.2 s"):
                await pool.runner("alice").call(
                    "def run(inputs):\n    while True: pass", "run", {"inputs": None}, timeout_seconds=0.2
                )

    async def test_bound_the_time_a_caller_may_ask_for(self) -> None:
        pool = SandboxPool(scan=False, limits=Limits(wall_seconds=0.2), size=PoolSize(spare=0))
        with pytest.raises(CodeTimedOut, match=r"0\.2 s"):
            await pool.runner("alice").call(
                "import time\ndef run(inputs): time.sleep(60)", "run", {"inputs": 1}, timeout_seconds=900
            )
        await pool.aclose()

    async def test_spare_a_disk_that_is_nearly_full(self) -> None:
        pool = SandboxPool(scan=False, limits=Limits(disk_reserve_bytes=1 << 60), size=PoolSize(spare=0))
        with pytest.raises(CodeTooBig, match="the disk has less than"):
            await pool.runner("alice").call("import time\ndef run(inputs): time.sleep(60)", "run", {"inputs": 1})
        await pool.aclose()

    async def test_say_when_everybody_is_busy(self) -> None:
        pool = SandboxPool(scan=False, size=PoolSize(running=1, reserve=0, spare=0, queue_seconds=0.2))
        await who(pool.runner("alice"))
        busy = asyncio.create_task(
            pool.runner("alice").call("import time\ndef run(inputs): time.sleep(1)", "run", {"inputs": None})
        )
        await asyncio.sleep(0.05)
        with pytest.raises(SandboxBusy, match="no sandbox worker became free"):
            await who(pool.runner("bob"))
        await busy
        await who(pool.runner("bob"))
        await pool.aclose()

    async def test_keep_a_tenant_from_holding_up_others(self) -> None:
        pool = SandboxPool(scan=False, size=PoolSize(running=2, spare=0, queue_seconds=20.0))
        sleeping = "import time\ndef run(inputs): time.sleep(60)"
        flood = [
            asyncio.create_task(pool.runner("alice").call(sleeping, "run", {"inputs": None}, timeout_seconds=60))
            for _ in range(6)
        ]
        try:
            await asyncio.sleep(0)
            assert await asyncio.gather(*(who(pool.runner("bob")) for _ in range(3)))
            assert not any(task.done() for task in flood)
        finally:
            for task in flood:
                task.cancel()
            await asyncio.gather(*flood, return_exceptions=True)
            await pool.aclose()

    async def test_let_many_calls_through_one_after_another(self, pool: SandboxPool) -> None:
        codes = [f"def run(inputs): return inputs + {number}" for number in range(20)]
        calls = [pool.runner(f"t{number % 3}").call(code, "run", {"inputs": 1}) for number, code in enumerate(codes)]
        assert await asyncio.gather(*calls) == [1 + number for number in range(20)]


class TestClosedPool:
    async def test_says_so(self) -> None:
        pool = SandboxPool(scan=False)
        await pool.aclose()
        with pytest.raises(SandboxUnavailable, match="closed"):
            await who(pool.runner("alice"))

    async def test_may_be_closed_twice_and_unused(self) -> None:
        pool = SandboxPool()
        await pool.aclose()
        await pool.aclose()


class TestUnicodeOfCode:
    async def test_tells_codes_apart_by_every_character(self, pool: SandboxPool) -> None:
        codes = [f"def run(inputs): return {text!r}" for text in ("a", "ａ", "а")]
        assert len({hashlib.sha256(code.encode()).digest() for code in codes}) == 3
        assert [await pool.runner("alice").call(code, "run", {"inputs": 1}) for code in codes] == ["a", "ａ", "а"]
