"""`headgate up --embedded-services`: the distributed form with one command, from the start to the last process."""

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest

from tests.support.patience import PATIENCE_SECONDS
from tests.support.ports import free_port
from tests.support.processes import await_ends, lives

START_SECONDS = 90.0
MOST_LINES = 200
"""Of the log of everything, from the start over one outage."""
pytestmark = [pytest.mark.timeout(300), pytest.mark.postgres]
FLOW: dict[str, Any] = {
    "name": "Patience",
    "nodes": [
        {"id": "heard", "type": "ChatInput"},
        {"id": "wait", "type": "Wait", "params": {"seconds": 4}},
        {"id": "out", "type": "ChatOutput"},
    ],
    "edges": [
        {"source": "heard", "output": "text", "target": "wait", "input": "value"},
        {"source": "wait", "output": "value", "target": "out", "input": "input"},
    ],
}


QUICK = {
    "name": "Quick",
    "nodes": [{"id": "heard", "type": "ChatInput"}, {"id": "out", "type": "ChatOutput"}],
    "edges": [{"source": "heard", "output": "text", "target": "out", "input": "input"}],
}


class Up:
    """The command as a process, and all that it started."""

    def __init__(self, folder: Path, port: int = 0) -> None:
        self.folder = folder
        self.port = port = port or free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.log = folder / f"up-{free_port()}.log"
        kept = {key: value for key, value in os.environ.items() if not key.startswith("HEADGATE_")}
        command = ["up", "--embedded-services", "--concurrency", "2", "--port", str(port)]
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "headgate", *command],
                env={**kept, "HEADGATE_DATA_DIR": str(folder / "data"), "HEADGATE_LOG__FORMAT": "json"},
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self.postgres = folder / "data" / "services" / "postgres" / "postmaster.pid"
        self.seen: dict[int, psutil.Process] = {}

    def family(self) -> list[psutil.Process]:
        """It and every process under it, whose ids are remembered."""
        if self.process.poll() is None:
            main = psutil.Process(self.process.pid)
            self.seen |= {one.pid: one for one in (main, *main.children(recursive=True))}
            with suppress(FileNotFoundError, psutil.NoSuchProcess):
                # It is nobody's child. What a killed one left names none that lives.
                database = psutil.Process(int(self.postgres.read_text().split()[0]))
                self.seen |= {one.pid: one for one in (database, *database.children())}
        return [one for one in self.seen.values() if lives(one)]

    def service(self, name: str) -> int:
        """The process of the bundled `redis` or `postgres`."""
        recorded = json.loads((self.folder / "data" / "up" / "processes.json").read_text())
        return int(recorded[name]["pid"])

    def part(self, name: str) -> psutil.Process:
        """One of its parts: `serve`, `worker` or `beat`."""
        parts = psutil.Process(self.process.pid).children()
        return next(one for one in parts if name in one.cmdline())

    async def until_ready(self) -> None:
        """Wait until readiness says that runs will be carried out."""
        async with (
            asyncio.timeout(START_SECONDS),
            httpx2.AsyncClient(base_url=self.url, timeout=PATIENCE_SECONDS) as client,
        ):
            while True:
                assert self.process.poll() is None, self.log.read_text()[-3000:]
                try:
                    if (await client.get("/health/ready")).is_success:
                        return
                except httpx2.TransportError:
                    pass
                await asyncio.sleep(0.1)


def end(up: Up) -> None:
    """End the command, and whatever it should have ended."""
    left = up.family()
    up.process.terminate()
    with suppress(subprocess.TimeoutExpired):
        up.process.wait(30)
    left = up.family() if up.process.poll() is None else [one for one in left if lives(one)]
    for process in left:
        process.kill()
    await_ends(left)
    up.process.wait()


@pytest.fixture
def folder() -> Iterator[Path]:
    """Not in pytest's own folder: a PostgreSQL started by root runs as another user, who may not pass through it."""
    found = Path(tempfile.mkdtemp(prefix="headgate-up-"))
    found.chmod(0o755)
    yield found
    shutil.rmtree(found, ignore_errors=True)


@pytest.fixture
def up(folder: Path) -> Iterator[Up]:
    found = Up(folder)
    yield found
    end(found)


class TestUp:
    async def test_carries_runs_out_survives_a_dead_worker_and_leaves_no_process(self, up: Up) -> None:
        await up.until_ready()
        async with httpx2.AsyncClient(base_url=f"{up.url}/api/v1", timeout=90) as client:
            flow = (await client.post("/flows", json={"definition": FLOW})).json()["id"]
            run = asyncio.create_task(client.post(f"/flows/{flow}/runs", json={"text": "hej", "wait": True}))
            victim = await worker_of_the_wait(client, flow)
            up.family()
            psutil.Process(victim).kill()
            answer = (await run).json()
            assert (answer["status"], answer["output"]["text"]) == ("completed", "hej")
            steps = (await client.get(f"/flow-runs/{answer['id']}")).json()["steps"]
            attempts = {step["step_id"]: step["attempts"] for step in steps}
            # The first ends with the worker, the last finishes; one between is suspended where time is left.
            assert attempts.pop("wait") in {2, 3}
            assert attempts == {"heard": 1, "out": 1}
            up.part("worker").kill()
            again = (await client.post(f"/flows/{flow}/runs", json={"text": "igen", "wait": True})).json()
            assert (again["status"], again["output"]["text"]) == ("completed", "igen")
        assert "restarting in" in up.log.read_text()
        up.family()
        up.process.send_signal(signal.SIGINT)
        assert await asyncio.to_thread(up.process.wait, 40) == 0
        left = await asyncio.to_thread(await_ends, up.family())
        assert left == [], [one.cmdline() for one in left]


async def worker_of_the_wait(client: httpx2.AsyncClient, flow: str) -> int:
    """The process that is at the waiting step of the flow's only run."""
    async with asyncio.timeout(START_SECONDS):
        while True:
            for run in (await client.get("/flow-runs", params={"flow_id": flow})).json()["items"]:
                step = (await client.get(f"/flow-runs/{run['id']}/steps/wait")).json()
                if step["tries"]:
                    return int(step["tries"][0]["worker_id"].split(":")[1])
            await asyncio.sleep(0.05)


@pytest.mark.campaign
class TestServices:
    @pytest.mark.parametrize("name", ["redis", "postgres"])
    async def test_that_are_killed_come_back_and_runs_complete(self, up: Up, name: str) -> None:
        await up.until_ready()
        async with httpx2.AsyncClient(base_url=f"{up.url}/api/v1", timeout=90) as client:
            flow = (await client.post("/flows", json={"definition": FLOW})).json()["id"]
            begun = (await client.post(f"/flows/{flow}/runs", json={"text": "before"})).json()["id"]
            await worker_of_the_wait(client, flow)
            up.family()
            victim = up.service(name)
            psutil.Process(victim).kill()
            await until_replaced(up, name, victim)
            await up.until_ready()
            await until_completed(client, begun)
            answer = (await client.post(f"/flows/{flow}/runs", json={"text": "after", "wait": True})).json()
            assert (answer["status"], answer["output"]["text"]) == ("completed", "after")
        said = up.log.read_text()
        assert said.count("runs again") == 1
        assert len(said.splitlines()) < MOST_LINES, said[-3000:]


@pytest.mark.campaign
class TestKilled:
    async def test_takes_every_process_with_it_and_the_next_one_continues_its_runs(self, up: Up, folder: Path) -> None:
        await up.until_ready()
        async with httpx2.AsyncClient(base_url=f"{up.url}/api/v1", timeout=90) as client:
            flow = (await client.post("/flows", json={"definition": FLOW})).json()["id"]
            begun = (await client.post(f"/flows/{flow}/runs", json={"text": "before"})).json()["id"]
            await worker_of_the_wait(client, flow)
        family = up.family()
        up.process.kill()
        left = await asyncio.to_thread(await_ends, family)
        assert left == [], [one.cmdline() for one in left]
        second = Up(folder)
        try:
            await second.until_ready()
            async with httpx2.AsyncClient(base_url=f"{second.url}/api/v1", timeout=90) as client:
                await until_completed(client, begun)
                answer = (await client.post(f"/flows/{flow}/runs", json={"text": "after", "wait": True})).json()
                assert (answer["status"], answer["output"]["text"]) == ("completed", "after")
        finally:
            end(second)


class TestRestart:
    async def test_refuses_no_request_and_fails_no_run(self, up: Up) -> None:
        await up.until_ready()
        before = {name: up.service(name) for name in ("server", "worker", "beat")}
        async with httpx2.AsyncClient(base_url=f"{up.url}/api/v1", timeout=90) as client:
            flow = (await client.post("/flows", json={"definition": QUICK})).json()["id"]
            slow = (await client.post("/flows", json={"definition": FLOW})).json()["id"]
            begun = [(await client.post(f"/flows/{slow}/runs", json={"text": "slow"})).json()["id"] for _ in range(2)]
            restarted = asyncio.Event()
            reused = asyncio.create_task(runs_until(restarted, up.url, flow))
            fresh = asyncio.create_task(requests_until(restarted, up.url))
            code, said = await command(up, "restart", "--json")
            await asyncio.sleep(1.0)
            restarted.set()
            statuses, answers = await reused, await fresh
            assert (code, json.loads(said)["state"]) == (0, "done"), up.log.read_text()[-3000:]
            assert len(statuses) > 3
            assert set(statuses) == {"completed"}
            assert len(answers) > 50
            assert set(answers) == {200}
            for run_id in begun:
                await until_completed(client, run_id)
            listed = await processes(client)
        after = {name: up.service(name) for name in before}
        assert set(before.values()).isdisjoint(after.values())
        # The old ones stopped in order.
        alive = [(one["kind"], one["state"]) for one in listed]
        assert sorted(alive) == [("server", "running"), ("worker", "running")]
        assert {one["pid"] for one in listed} == {after["server"], after["worker"]}

    @pytest.mark.campaign
    async def test_keeps_the_old_process_when_a_new_one_does_not_start(self, up: Up) -> None:
        await up.until_ready()
        before = up.service("server")
        workers = up.folder / "data" / "workers"
        hidden = workers.rename(workers.with_name("hidden"))
        workers.write_text("no folder")
        code, said = await command(up, "restart")
        assert code == 1, said
        assert "server: The new process did not become ready." in said
        workers.unlink()
        hidden.rename(workers)
        assert up.service("server") == before
        await up.until_ready()

    async def test_of_nothing_says_so(self, folder: Path) -> None:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "headgate", "restart"),
            env={**os.environ, "HEADGATE_DATA_DIR": str(folder)},
            stderr=subprocess.PIPE,
        )
        _, said = await process.communicate()
        assert process.returncode == 4
        assert b"not running" in said


class TestDrain:
    async def test_of_a_worker_leaves_its_messages_to_others(self, up: Up) -> None:
        await up.until_ready()
        async with httpx2.AsyncClient(base_url=f"{up.url}/api/v1", timeout=90) as client:
            flow = (await client.post("/flows", json={"definition": QUICK})).json()["id"]
            (worker,) = [one for one in await processes(client) if one["kind"] == "worker"]
            assert (await client.put(f"/processes/{worker['id']}/drain", json={})).json()["state"] == "draining"
            async with asyncio.timeout(START_SECONDS):
                while "drained" not in [one["state"] for one in await processes(client)]:  # noqa: ASYNC110
                    await asyncio.sleep(0.1)
            queued = (await client.post(f"/flows/{flow}/runs", json={"text": "later"})).json()["id"]
            await asyncio.sleep(3.0)
            assert (await client.get(f"/flow-runs/{queued}")).json()["status"] == "queued"
            assert (await client.delete(f"/processes/{worker['id']}/drain")).json()["state"] == "running"
            await until_completed(client, queued)


async def processes(client: httpx2.AsyncClient) -> list[dict[str, Any]]:
    """The processes that are listed."""
    listed: list[dict[str, Any]] = (await client.get("/processes")).json()["items"]
    return listed


async def command(up: Up, *words: str) -> tuple[int | None, str]:
    """Run the command line on the folder. Returns its exit code and output."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("HEADGATE_")}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "headgate", *words),
        env={**kept, "HEADGATE_DATA_DIR": str(up.folder / "data")},
        stdout=subprocess.PIPE,
    )
    output, _ = await process.communicate()
    return process.returncode, output.decode()


async def runs_until(over: asyncio.Event, url: str, flow: str) -> list[str]:
    """Status of runs, one after another, over connections that are kept."""
    statuses = []
    async with httpx2.AsyncClient(base_url=f"{url}/api/v1", timeout=90) as client:
        while not over.is_set():
            answer = await client.post(f"/flows/{flow}/runs", json={"text": "quick", "wait": True})
            statuses.append(answer.json().get("status", answer.text))
    return statuses


async def requests_until(over: asyncio.Event, url: str) -> list[int]:
    """Status of requests, each over a connection of its own."""
    answers = []
    while not over.is_set():
        async with httpx2.AsyncClient(base_url=url, timeout=90) as client:
            answers.append((await client.get("/api/v1/flows")).status_code)
    return answers


class TestRefusals:
    @pytest.mark.campaign
    async def test_of_a_second_one_on_the_same_folder(self, up: Up, folder: Path) -> None:
        await up.until_ready()
        second = Up(folder)
        try:
            assert await asyncio.to_thread(second.process.wait, 60) != 0
            assert f"as process {up.process.pid}" in second.log.read_text()
        finally:
            second.process.kill()
        await up.until_ready()

    def test_of_a_port_that_another_program_has(self, folder: Path) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            found = Up(folder, taken.getsockname()[1])
            assert found.process.wait(60) != 0
            assert f"process {os.getpid()} listens there" in found.log.read_text().replace("\n", " ")


async def until_replaced(up: Up, name: str, pid: int) -> None:
    """Wait until a service has another process."""
    async with asyncio.timeout(START_SECONDS):
        while up.service(name) == pid:  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.05)


GOING = frozenset({"queued", "running", "waiting"})


async def until_completed(client: httpx2.AsyncClient, run_id: str) -> None:
    """Wait until a run is over, and completed."""
    async with asyncio.timeout(START_SECONDS):
        while (status := (await client.get(f"/flow-runs/{run_id}")).json()["status"]) in GOING:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    assert status == "completed"
