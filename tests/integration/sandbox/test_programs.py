"""Programs behind walls: with namespaces and without, as root's program and as that of an ordinary user."""
# ruff: noqa: ASYNC220, ASYNC240 - the programs are waited for in threads; paths are local

import asyncio
import errno
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from ipaddress import ip_network
from pathlib import Path
from textwrap import dedent
from typing import Any

import psutil
import pytest

from headgate.foundation.guarded_http import GuardedHttp
from headgate.foundation.settings import HttpSettings, OutgoingSettings
from headgate.sandbox.guest.namespaces import are_possible
from headgate.sandbox.guest.program import ERROR_BYTES, LINE_BYTES, NOT_FOUND, REFUSED
from headgate.sandbox.programs import Access, Launch, launched
from tests.support.open_python import for_any_user, open_python
from tests.support.patience import PATIENCE_SECONDS
from tests.support.web_server import answer, web_server

pytestmark = [pytest.mark.isolated, for_any_user]
NOBODY = 65534
INTERPRETER = (sys.prefix, sys.base_prefix)
NAMES = {"api.test": ["127.0.0.1"], "other.test": ["127.0.0.1"], "inner.test": ["10.0.0.7"]}
WITHOUT_NAMESPACES = "import headgate.sandbox.guest.namespaces as spaces; spaces.are_possible = lambda: False; "
WITHOUT_LANDLOCK = "import headgate.sandbox.guest.kernel as kernel; kernel.landlock_abi = lambda: 0; "


async def resolve(host: str, port: int) -> Sequence[str]:
    """A DNS of the tests' own."""
    if host not in NAMES:
        raise socket.gaierror(socket.EAI_NONAME, "unknown")
    return NAMES[host]


@pytest.fixture
def http() -> GuardedHttp:
    return GuardedHttp(
        HttpSettings(allowed_internal_cidrs=[ip_network("127.0.0.0/8")]), OutgoingSettings(), resolver=resolve
    )


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that every user can use: only the walls are in the way."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o777)
        yield Path(folder)


class Runner:
    """Runs programs in one of the four ways."""

    def __init__(self, http: GuardedHttp, *, as_root: bool, namespaces: bool) -> None:
        if namespaces and not are_possible():
            pytest.skip("this system gives the tests no namespaces")
        self.http = http
        self.as_root = as_root
        self.namespaces = namespaces
        self.patches = "" if namespaces else WITHOUT_NAMESPACES

    def prepared(self, launch: Launch) -> list[str]:
        """The launcher's command, for the user of this way."""
        command = list(launch.command)
        boot = command.index("-c") + 1
        command[boot] = command[boot].replace("del sys.path[0]", f"{self.patches}del sys.path[0]")
        if self.as_root or os.geteuid() != 0:
            return command
        home = Path(launch.environment["HOME"])
        for path in (home, *home.iterdir()):
            os.chown(path, NOBODY, NOBODY)
        policy = json.loads(command[boot + 2]) | {"user": None}
        command[boot + 2] = json.dumps(policy)
        drop = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        return [*drop, *open_python(), *command[1:]]

    @asynccontextmanager
    async def started(
        self, *command: str, insecure: bool = False, **access: Any
    ) -> AsyncIterator[subprocess.Popen[bytes]]:
        """A running program."""
        access["read"] = (*INTERPRETER, *access.get("read", ()))
        async with launched("program", command, Access(**access), self.http, insecure=insecure) as launch:
            environment = {"PATH": os.environ["PATH"]} | dict(launch.environment)
            process = subprocess.Popen(
                self.prepared(launch),
                env=environment,
                start_new_session=True,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            try:
                yield process
            finally:
                process.kill()
                await asyncio.to_thread(process.communicate)

    async def run(self, *command: str, input: bytes = b"", **more: Any) -> tuple[int, bytes, str]:  # noqa: A002
        """Exit code, output and errors of a program that ends."""
        async with self.started(*command, **more) as process:
            out, err = await asyncio.to_thread(process.communicate, input, 60)
            return process.returncode, out, err.decode()

    async def python(self, code: str, *arguments: str, **more: Any) -> Any:
        """What a script prints as JSON; `tried(name, call)` notes the error of a call or its value."""
        head = """
            import json, os, socket, sys
            results = {}
            def tried(name, call):
                try:
                    results[name] = call()
                except Exception as error:
                    results[name] = type(error).__name__
        """
        script = dedent(head) + dedent(code) + "\nprint(json.dumps(results, default=str))\n"
        status, out, err = await self.run(*open_python(), "-c", script, *arguments, **more)
        assert status == 0, (status, out, err)
        return json.loads(out)


@pytest.fixture(params=["root", "user"])
def as_root(request: pytest.FixtureRequest) -> bool:
    if request.param == "root" and os.geteuid() != 0:
        pytest.skip("the tests do not run as root")
    return bool(request.param == "root")


@pytest.fixture
def victim(*, as_root: bool) -> Iterator[int]:
    """Id of a process of the same user as the launcher, with a secret in its environment."""
    drop = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    command = [*(() if as_root or os.geteuid() != 0 else drop), "sleep", "60"]
    with subprocess.Popen(command, env={"PATH": os.environ["PATH"], "CANARY": "secret-31415"}) as process:
        yield process.pid
        process.kill()


@pytest.fixture(params=["namespaces", "no namespaces"])
def runner(request: pytest.FixtureRequest, http: GuardedHttp, *, as_root: bool) -> Runner:
    return Runner(http, as_root=as_root, namespaces=request.param == "namespaces")


class TestFiles:
    async def test_only_those_declared_are_read_and_only_some_changed(self, runner: Runner, place: Path) -> None:
        for name in ("read", "write", "other"):
            (place / name).mkdir()
            (place / name).chmod(0o777)
            (place / name / "file").write_text(name)
            (place / name / "file").chmod(0o666)
        results = await runner.python(
            """
            place = sys.argv[1]
            for name in ("read", "write", "other"):
                tried(f"read {name}", lambda: open(f"{place}/{name}/file").read())
                tried(f"list {name}", lambda: os.listdir(f"{place}/{name}"))
                tried(f"change {name}", lambda: open(f"{place}/{name}/file", "w").write("changed"))
                tried(f"make {name}", lambda: open(f"{place}/{name}/new", "w").write("new"))
                tried(f"remove {name}", lambda: os.unlink(f"{place}/{name}/file"))
            os.symlink(f"{place}/other", "link")
            tried("link", lambda: os.listdir("link"))
            tried("hard link", lambda: os.link(f"{place}/other/file", "hard"))
            tried("up", lambda: os.listdir(".."))
            tried("root", lambda: os.listdir("/"))
            tried("shadow", lambda: open("/etc/shadow").read())
            tried("system", lambda: open("/usr/new", "w"))
            tried("temporary", lambda: open("/tmp/new", "w"))
            tried("home", lambda: open("new", "w").write("1"))
            """,
            str(place),
            read=[str(place / "read")],
            write=[str(place / "write")],
        )
        assert (results["read read"], results["list read"]) == ("read", ["file"])
        assert (results["read write"], results["change write"], results["make write"]) == ("write", 7, 3)
        assert results["remove write"] is None
        assert results["home"] == 1
        allowed = {"read read", "list read", "read write", "list write", "change write", "make write", "remove write"}
        refused = {name: result for name, result in results.items() if name not in allowed | {"home"}}
        assert set(refused.values()) <= {"PermissionError", "OSError", "FileNotFoundError"}, refused
        assert (place / "other" / "file").read_text() == "other"
        assert (place / "read" / "file").read_text() == "read"
        assert not (place / "other" / "new").exists()

    async def test_of_the_server_keep_their_modes_and_times(self, runner: Runner, place: Path) -> None:
        owned = place / "owned"
        owned.write_text("the server's")
        owned.chmod(0o600)
        os.utime(owned, (1, 1))
        if os.geteuid() == 0 and not runner.as_root:
            os.chown(owned, NOBODY, NOBODY)
        results = await runner.python(
            """
            tried("mode", lambda: os.chmod(sys.argv[1], 0o777))
            tried("times", lambda: os.utime(sys.argv[1]))
            tried("owner", lambda: os.chown(sys.argv[1], os.getuid(), -1))
            tried("attribute", lambda: os.setxattr(sys.argv[1], "user.x", b"1"))
            tried("truncate", lambda: os.truncate(sys.argv[1], 0))
            tried("rename", lambda: os.rename(sys.argv[1], "mine"))
            """,
            str(owned),
        )
        assert None not in results.values(), results
        state = owned.stat()
        assert (state.st_mode & 0o777, state.st_mtime) == (0o600, 1)
        assert owned.read_text() == "the server's"

    async def test_of_its_home_end_with_it(self, runner: Runner) -> None:
        results = await runner.python("""
            results["home"] = os.getcwd()
            open("left", "w").write("x")
            results["same"] = os.environ["HOME"] == os.environ["TMPDIR"] == os.getcwd()
        """)
        assert results["same"]
        assert not Path(results["home"]).exists()


class TestProcesses:
    async def test_of_others_are_neither_seen_nor_signalled(self, runner: Runner, victim: int) -> None:
        results = await runner.python(
            """
            victim = int(sys.argv[1])
            tried("signal", lambda: os.kill(victim, 9))
            tried("signal launcher", lambda: os.kill(os.getppid() or 10**6, 9))
            for name in ("environ", "mem", "maps"):
                tried(name, lambda: open(f"/proc/{victim}/{name}").read())
            """,
            str(victim),
        )
        assert set(results.values()) <= {"PermissionError", "FileNotFoundError", "ProcessLookupError"}, results
        assert psutil.Process(victim).status() == psutil.STATUS_SLEEPING

    async def test_that_it_leaves_behind_end_with_it(self, runner: Runner) -> None:
        mark = f"left-behind-{os.getpid()}"
        code = f"(setsid sh -c 'sleep 300; : {mark}' &) ; echo started; read line"
        async with runner.started("sh", "-c", code) as process:
            assert process.stdout is not None
            assert await asyncio.to_thread(process.stdout.readline) == b"started\n"
            os.killpg(process.pid, signal.SIGTERM)
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        left = [process for process in psutil.process_iter() if mark in " ".join(_command(process))]
        if runner.namespaces:
            psutil.wait_procs(left, PATIENCE_SECONDS)
            assert not [process for process in left if process.is_running()]
        for process in left:  # without namespaces, one that leaves the group of its program is not ended
            process.kill()

    async def test_are_as_many_as_it_may_have(self, runner: Runner) -> None:
        results = await runner.python("""
            import subprocess
            started = []
            def more():
                while len(started) < 5_000:
                    started.append(subprocess.Popen(["sleep", "60"]))
            tried("more", more)
            results["count"] = len(started)
            for process in started:
                process.kill()
        """)
        limit = 130 if runner.as_root else 130 + int(Path("/proc/loadavg").read_text().split()[3].partition("/")[2]) * 2
        assert results["count"] < limit
        assert results["more"] in {"BlockingIOError", "OSError"}


class TestCalls:
    async def test_that_lead_out_are_refused(self, runner: Runner) -> None:
        results = await runner.python("""
            import ctypes, errno
            libc = ctypes.CDLL(None, use_errno=True)
            def call(number, *arguments):
                ctypes.set_errno(0)
                libc.syscall(ctypes.c_long(number), *(ctypes.c_long(value) for value in arguments))
                return errno.errorcode.get(ctypes.get_errno(), "none")
            numbers = {"unshare": 272, "setns": 308, "mount": 165, "ptrace": 101, "bpf": 321, "keyctl": 250,
                       "io_uring": 425, "clone3": 435, "userfaultfd": 323, "shmget": 29, "perf": 298, "handle": 304}
            if os.uname().machine == "aarch64":
                numbers = {"unshare": 97, "setns": 268, "mount": 40, "ptrace": 117, "bpf": 280, "keyctl": 219,
                           "io_uring": 425, "clone3": 435, "userfaultfd": 282, "shmget": 194, "perf": 241,
                           "handle": 265}
            for name, number in numbers.items():
                results[name] = call(number, 0, 0, 0, 0)
            results["clone"] = call(56 if numbers["unshare"] == 272 else 220, 0x10000000 | 17, 0, 0, 0)
            for family in ("AF_UNIX", "AF_NETLINK", "AF_PACKET"):
                tried(family, lambda: socket.socket(getattr(socket, family)))
            tried("pair", lambda: socket.socketpair() and "made")
            tried("status", lambda: open("/proc/self/status").read())
            results["user"] = os.getuid()
        """)
        assert {results.pop(name) for name in ("io_uring", "clone3")} == {"ENOSYS"}
        assert results.pop("pair") == "made"
        status = results.pop("status")
        assert status == "PermissionError" if not runner.namespaces else "CapEff:\t0000000000000000" in status
        assert results.pop("user") != 0
        assert set(results.values()) <= {"EPERM", "OSError", "PermissionError"}, results

    async def test_of_memory_and_files_are_bounded(self, runner: Runner) -> None:
        results = await runner.python("""
            tried("memory", lambda: len(bytearray(5 << 30)))
            def fill():
                with open("large", "wb") as file:
                    file.truncate(2 << 30)
            import signal
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            tried("file", fill)
        """)
        assert results["memory"] == "MemoryError"
        assert results["file"] == "OSError"


class TestNetwork:
    async def test_reaches_declared_hosts_by_the_proxy_alone(self, http: GuardedHttp, *, as_root: bool) -> None:
        runner = Runner(http, as_root=as_root, namespaces=True)
        async with web_server("127.0.0.1") as server:
            server.on("/a", answer(body="heard a"))
            server.on("/t", answer(body="heard t"))
            results = await runner.python(
                """
                import urllib.request
                port = sys.argv[1]
                def read(url):
                    return urllib.request.urlopen(url, timeout=10).read().decode()
                tried("declared", lambda: read(f"http://api.test:{port}/a"))
                tried("other", lambda: read(f"http://other.test:{port}/a"))
                tried("other port", lambda: read("http://api.test:1/a"))
                tried("private", lambda: read("http://inner.test/a"))
                tried("unknown", lambda: read("http://nowhere.test/a"))
                tried("direct", lambda: socket.create_connection(("127.0.0.1", int(port)), timeout=3))
                tried("away", lambda: socket.create_connection(("192.0.2.1", 80), timeout=3))
                tried("name", lambda: socket.getaddrinfo("api.test", 80))
                import http.client
                def tunnel(host):
                    line = http.client.HTTPConnection("127.0.0.1", 3128, timeout=10)
                    line.set_tunnel(host, int(port))
                    line.request("GET", "/t")
                    return line.getresponse().read().decode()
                tried("tunnel", lambda: tunnel("api.test"))
                tried("other tunnel", lambda: tunnel("other.test"))
                """,
                str(server.port),
                hosts=(f"api.test:{server.port}", "inner.test", "nowhere.test"),
            )
        assert (results.pop("declared"), results.pop("tunnel")) == ("heard a", "heard t")
        assert set(results.values()) <= {"HTTPError", "OSError", "ConnectionRefusedError", "gaierror"}, results

    async def test_that_the_server_cannot_serve_refuses_the_start(
        self, http: GuardedHttp, monkeypatch: pytest.MonkeyPatch, *, as_root: bool
    ) -> None:
        def full(*_: object) -> None:
            raise OSError(errno.EMFILE, "Too many open files")

        monkeypatch.setattr(http, "program_proxy", full)
        runner = Runner(http, as_root=as_root, namespaces=True)
        status, out, err = await runner.run(*open_python(), "-c", "print('started')", hosts=("allowed.example",))
        assert (status, out) == (REFUSED, b"")
        assert "its network could not be set up: [Errno 24] Too many open files" in err

    async def test_is_none_without_hosts(self, runner: Runner, place: Path) -> None:
        path = place / "socket"
        with socket.create_server(("127.0.0.1", 0)) as listening, socket.socket(socket.AF_UNIX) as unix:
            unix.bind(str(path))
            path.chmod(0o777)
            unix.listen()
            results = await runner.python(
                """
                tried("tcp", lambda: socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=3))
                def unix():
                    socket.socket(socket.AF_UNIX).connect(sys.argv[2])
                tried("unix", unix)
                results["proxies"] = [name for name in os.environ if "proxy" in name.lower()]
                """,
                str(listening.getsockname()[1]),
                str(path),
            )
        assert results == {"tcp": results["tcp"], "unix": "OSError", "proxies": []}
        assert results["tcp"] in {"OSError", "ConnectionRefusedError", "PermissionError"}


class TestOutput:
    async def test_without_an_end_ends_the_program(self, runner: Runner) -> None:
        status, out, err = await runner.run("sh", "-c", "yes | tr -d '\\n'")
        assert status != 0
        assert len(out) <= LINE_BYTES
        assert "longer than" in err

    async def test_of_errors_is_cut(self, runner: Runner) -> None:
        status, out, err = await runner.run("sh", "-c", f"yes | head -c {3 * ERROR_BYTES} >&2; echo done")
        assert (status, out, len(err)) == (0, b"done\n", ERROR_BYTES)

    async def test_is_passed_on_with_input_and_the_exit_code(self, runner: Runner) -> None:
        lines = b"".join(b"%d\n" % number for number in range(100_000))
        assert await runner.run("sh", "-c", "cat; echo problem >&2; exit 7", input=lines) == (7, lines, "problem\n")


class TestRefusals:
    async def test_say_what_is_missing(self, runner: Runner) -> None:
        assert await runner.run("no-such-program") == (
            NOT_FOUND,
            b"",
            "could not be started: No such file: no-such-program.\n",
        )
        runner.patches += WITHOUT_LANDLOCK
        status, _, err = await runner.run("sh", "-c", "echo ran")
        assert (status, "Linux with Landlock and seccomp" in err, "HEADGATE_SANDBOX__INSECURE" in err) == (
            REFUSED,
            True,
            True,
        )
        assert (await runner.run("sh", "-c", "echo ran", insecure=True))[:2] == (0, b"ran\n")

    async def test_of_hosts_where_there_are_no_namespaces(self, http: GuardedHttp, *, as_root: bool) -> None:
        runner = Runner(http, as_root=as_root, namespaces=False)
        status, _, err = await runner.run("sh", "-c", "echo ran", hosts=("api.test",))
        assert (status, "allow user namespaces" in err) == (REFUSED, True)


def _command(process: psutil.Process) -> list[str]:
    try:
        return list(process.cmdline())
    except psutil.Error:
        return []
