"""Threads of flows, and that nothing of a flow takes one of the event loop's."""

import ast
import asyncio
import threading
from contextvars import ContextVar

import pytest

from headgate.foundation import flow_threads
from headgate.foundation.flow_threads import run_in_flow_thread, wait_in_flow_thread
from tests.architecture.source import modules, shown, tree

_TENANT: ContextVar[str] = ContextVar("tenant", default="")
OF_FLOWS = ("components/", "features/flows/", "features/catalog/own/", "features/testing/", "features/runs/steps/",
            "features/runs/preview/", "features/runs/report/", "features/runs/listing/")  # fmt: skip


def repeated(word: str, *, times: int) -> str:
    return word * times + _TENANT.get()


class TestRunInFlowThread:
    async def test_gives_what_the_work_gives_or_raises_in_the_callers_context(self) -> None:
        _TENANT.set("a")
        assert await run_in_flow_thread(repeated, "b", times=2) == "bba"
        with pytest.raises(ZeroDivisionError):
            await run_in_flow_thread(lambda: 1 / 0)

    async def test_leaves_the_loops_own_threads_alone_when_all_places_are_taken(self) -> None:
        release = threading.Event()
        waiting = [asyncio.create_task(run_in_flow_thread(release.wait)) for _ in range(100)]
        assert await asyncio.to_thread(lambda: threading.current_thread().name) != ""
        names = {thread.name for thread in threading.enumerate() if thread.name.startswith("flow_")}
        assert len(names) == flow_threads.PLACES
        release.set()
        assert all(await asyncio.gather(*waiting))


class TestWaitInFlowThread:
    async def test_leaves_the_places_for_calculations_alone_when_all_wait_for_servers(self) -> None:
        release = threading.Event()
        waiting = [asyncio.create_task(wait_in_flow_thread(release.wait)) for _ in range(100)]
        assert await run_in_flow_thread(repeated, "b", times=2) == "bb"
        names = {thread.name for thread in threading.enumerate() if thread.name.startswith("waiting_")}
        assert len(names) == flow_threads.WAITING_PLACES
        release.set()
        assert all(await asyncio.gather(*waiting))


def test_what_a_flow_decides_takes_no_thread_of_the_loop() -> None:
    paths = [path for path in modules() if any(f"headgate/{part}" in str(path) for part in OF_FLOWS)]
    assert len(paths) > len(OF_FLOWS)
    lines = [
        f"{shown(path)}:{node.lineno}"
        for path in paths
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute) and node.attr in {"to_thread", "run_in_executor"}
    ]
    assert not lines, f"{lines}: use `run_in_flow_thread` or `components.isolated`"
