"""LangGraph with its PostgreSQL saver: a graph of ten nodes, each state written down before the next node begins."""

import uuid
from typing import Any, TypedDict

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.graph import END, START, StateGraph
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool

from benchmarks.peers.port import STEPS, Peer


class State(TypedDict):
    """What the nodes hand on."""

    text: str


class LangGraph:
    """Runs the graph on this process's loop, each run a thread of its own."""

    def __init__(self, postgres: str) -> None:
        options = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
        self._pool: AsyncConnectionPool[Any] = AsyncConnectionPool(
            postgres, min_size=1, max_size=20, kwargs=options, open=False
        )

    async def open(self) -> None:
        """Make the saver's tables, compile the graph."""
        await self._pool.open(wait=True)
        saver = AsyncPostgresSaver(self._pool)
        await saver.setup()
        graph = StateGraph(State)
        names = [f"s{number}" for number in range(1, STEPS + 1)]
        for name in names:
            graph.add_node(name, _nothing)
        for before, after in zip([START, *names], [*names, END], strict=True):
            graph.add_edge(before, after)
        self._graph = graph.compile(checkpointer=saver)

    async def run(self) -> None:
        """One thread from start to end."""
        config = {"configurable": {"thread_id": str(uuid.uuid4())}}
        await self._graph.ainvoke({"text": "hello"}, config, durability="sync")

    async def close(self) -> None:
        """Disconnect."""
        await self._pool.close()


async def _nothing(state: State) -> State:
    return {"text": state["text"]}


def make(postgres: str, url: str) -> Peer:  # noqa: ARG001 - it needs no Redis
    """The peer."""
    return LangGraph(postgres)
