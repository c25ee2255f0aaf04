"""Every repository function and every method of the run store, found by looking, and a call of each."""

import importlib
import inspect
import pkgutil
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

import headgate.features
from headgate.features.runs.store.port import RunStore
from headgate.features.runs.transitions import (
    Claim,
    Failed,
    Finished,
    Lease,
    NewRun,
    Onward,
    Reuse,
    RunKey,
    Seed,
    StepRecord,
    clock,
)
from headgate.foundation.database import Database, now
from headgate.foundation.ids import new_id
from tests.integration.isolation.known import OWNED, SHARED, Unknown
from tests.integration.isolation.worlds import STEP, VARIABLE, World

Function = Callable[..., Any]
_PLAIN: dict[str, Any] = {"limit": 50, "search": "", "released_only": False, "lock": False, "secret": False}
"""Arguments that are the same whoever asks."""
_NOTHING = {"before", "after", "status"}
"""Filters and places in a list that are left out."""
NEW_ROWS = {
    "add_space": "inserts the row that a service made; a foreign key binds it to its tenant",
    "add_file": "inserts the record of a content that was stored under the tenant's own folder",
    "add_assistant": "inserts the row that a service made; a foreign key binds its space to its tenant",
    "delete_assistant": "removes a row that a service found in the caller's tenant",
    "add_version": "inserts a version; foreign keys bind steps and edges to its flow",
}
"""Functions that take whole rows in place of a tenant, and what binds those to one."""
_UPKEEP = "a scheduled job that goes through every tenant; no route reaches it with an id it was given"
_OF_ANY_TENANT = "the worker that makes deliveries for every tenant; no route reaches it with an id it was given"
WORKER_ONLY = {
    "flows_with_retention": _UPKEEP,
    "expired_runs": _UPKEEP,
    "payers_among": _UPKEEP,
    "orphan_candidates": _UPKEEP,
    "known_files": _UPKEEP,
    "find_due": _OF_ANY_TENANT,
    "open_attempt": _OF_ANY_TENANT,
    "find_output": "takes the delivery's row, and its tenant with it",
    "close_attempt": "takes the delivery's row",
}
"""Functions that work for every tenant in turn, and who calls them."""
ENGINE_ONLY = {
    "open": "connects",
    "close": "disconnects",
    "create": "inserts a run under the tenant in its key",
    "renew": "names the worker and the attempt that hold each step",
    "is_cancelled": "says yes or no to the engine that carries the run out",
    "status": "says one word to the engine that carries the run out",
    "load": "recovery goes on with runs of every tenant; each carries its own key from there",
    "stragglers": "recovery looks for steps of every tenant; each carries its own key from there",
    "live_runs": "recovery looks for runs of every tenant; each carries its own key from there",
}
"""Methods of the run store that take no tenant, and why: no route reaches them with an id that it was given."""


def repositories() -> list[ModuleType]:
    """Every module of a slice that holds its queries."""
    names = [found.name for found in pkgutil.walk_packages(headgate.features.__path__, "headgate.features.")]
    return [importlib.import_module(name) for name in names if name.rpartition(".")[2].endswith("repository")]


def functions_of(module: ModuleType) -> Iterator[Function]:
    """The public coroutine functions that a module itself defines."""
    for name, function in inspect.getmembers(module, inspect.iscoroutinefunction):
        if not name.startswith("_") and function.__module__ == module.__name__:
            yield function


def store_methods() -> list[str]:
    """The names of the run store's methods."""
    return [name for name, _ in inspect.getmembers(RunStore, inspect.iscoroutinefunction) if not name.startswith("_")]


def arguments_of(function: Function, of: World, tenant_id: str) -> dict[str, Any]:
    """Everything but the session: ids of one tenant, asked for in another's name. Raises `Unknown`."""
    found: dict[str, Any] = {}
    for name in list(inspect.signature(function).parameters)[1:]:
        found[name] = tenant_id if name == "tenant_id" else _argument(function, name, of)
    return found


def _argument(function: Function, name: str, of: World) -> Any:
    if name in {"file_ids", "delivery_ids", "run_ids", "flow_ids"}:
        return getattr(of, name)
    if name in OWNED:
        return OWNED[name](of)[0]
    if name in _PLAIN:
        return _PLAIN[name]
    if name in _NOTHING:
        return None
    special: dict[str, Any] = {
        "names": [VARIABLE, "The same flow"],
        "hosts": None,
        "runs": None,
        "but": (),
        "token": b"sealed",
        "updated_at": now(),
        "at": clock(),
    }
    if name in special:
        return special[name]
    if name in SHARED:
        return SHARED[name](of)
    raise Unknown(
        f"does not know what to give {function.__module__}.{function.__name__} as '{name}'. Add the name to OWNED or "
        "SHARED in tests/integration/isolation/known.py."
    )


@asynccontextmanager
async def trial(database: Database) -> AsyncIterator[AsyncSession]:
    """A session whose changes are looked at and never kept."""
    async with AsyncSession(database.engine) as session:
        yield session
        await session.rollback()


@dataclass(frozen=True)
class StoreCall:
    """A call of the run store about a tenant's run, in a given tenant's name."""

    arguments: tuple[Any, ...]
    refusal: Callable[[Any], bool]
    """Whether the answer says that there is no such run. An error of Headgate's says so too."""


def store_calls(of: World, tenant_id: str) -> Mapping[str, StoreCall]:
    """A call of each method that takes a tenant: of the run that another worker is in the middle of."""
    key = RunKey(of.key.run_id, tenant_id, of.key.flow_id, of.key.version)
    lease, claim, record = Lease("me:1:abcdefabcdef", clock(), clock() + 1_000_000), Claim("heard", 1), StepRecord()
    onward = Onward(settles={STEP: 1}, claim=(STEP,))

    past = RunKey(new_id(), tenant_id, of.key.flow_id, of.key.version)
    again = NewRun(past, '{"text": "again"}', (Seed("heard", 1, 0), Seed(STEP, 2, 1)))
    failed = RunKey(of.run_ids[1], tenant_id, of.flow_ids[1], 1)

    def nothing(answer: Any) -> bool:
        return not answer

    def unwritten(answer: Any) -> bool:
        return not answer.recorded

    return {
        "read": StoreCall((of.key.run_id, tenant_id), nothing),
        "cancel": StoreCall((of.key.run_id, tenant_id, clock()), nothing),
        "advance": StoreCall((key, onward, lease, Finished(claim, record)), unwritten),
        "fail": StoreCall((key, Failed(claim, "invalid", "It failed.", record), clock()), unwritten),
        "take_over": StoreCall((key, (claim,), lease), nothing),
        "end": StoreCall((key, "flow_deleted", "It ended.", clock()), nothing),
        "resume": StoreCall((failed, clock()), nothing),
        "create_from": StoreCall((again, Reuse(of.run_ids[0], ("heard",), STEP), clock()), lambda answer: False),
        "past_turns": StoreCall((key, "the same session", of.principal.user_id, 10), nothing),
    }
