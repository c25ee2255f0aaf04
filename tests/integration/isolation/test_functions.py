"""Every repository function and every method of the run store, asked by one tenant for what another has."""

import inspect
import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import astuple, dataclass, is_dataclass
from typing import Any

import psycopg
import pytest
import sqlalchemy

from headgate.features.runs.engine.build import build_store
from headgate.features.runs.statistics.repository import Seen
from headgate.features.runs.store.port import RunStore
from headgate.foundation.database import Database, Row
from headgate.foundation.errors import HeadgateError
from tests.integration.isolation.functions import (
    ASKS_WHICH_SPACES,
    COUNTS,
    CUTS,
    ENGINE_ONLY,
    NEW_ROWS,
    WORKER_ONLY,
    Function,
    arguments_of,
    cut_to,
    functions_of,
    repositories,
    store_calls,
    store_methods,
    trial,
    uncut,
)
from tests.integration.isolation.known import OWNED, Unknown
from tests.integration.isolation.rows import changing_statements, digest, rows_in, rows_of, telling_values
from tests.integration.isolation.worlds import World
from tests.support.report_all import report_all

pytestmark = pytest.mark.both_databases

Record = Callable[[str, object], None]
FUNCTIONS = [function for module in repositories() for function in functions_of(module)]
BY_TENANT = [function for function in FUNCTIONS if function.__name__ not in NEW_ROWS | WORKER_ONLY]


@pytest.mark.timeout(600)  # hundreds of calls, after each of which all tables are read
class TestRepositories:
    async def test_find_and_change_nothing_of_another_tenant(
        self, database: Database, mine: World, theirs: World, record_property: Record
    ) -> None:
        before, faults = digest(await rows_of(database, theirs.principal)), []
        secrets = await telling_values(database, theirs.principal) - await telling_values(database, mine.principal)
        for function in BY_TENANT:
            name = f"{function.__module__}.{function.__name__}"
            found = await _asked(database, function, theirs, mine.principal.tenant_id, secrets, before=before)
            if found.names_theirs:
                faults.append(f"{name} shows what is another tenant's: {found.text}")
            if found.rows != before:
                faults.append(f"{name} changed rows of another tenant.")
            owner = await _asked(database, function, theirs, theirs.principal.tenant_id, secrets, before=before)
            if not owner.anything and owner.rows == before:
                faults.append(f"{name} finds nothing for the owner either, so that nothing is proved. See worlds.py.")
        assert not faults, "\n".join(faults)
        assert digest(await rows_of(database, theirs.principal)) == before
        record_property("figures", f"{len(BY_TENANT)} repository functions ({database.dialect})")

    async def test_show_nothing_of_a_space_that_the_caller_does_not_see(
        self, database: Database, theirs: World, record_property: Record
    ) -> None:
        tenant_id, asked = theirs.principal.tenant_id, 0
        hidden = theirs.ids() - {theirs.space_ids[1]}
        for function in BY_TENANT:
            arguments = _arguments(function, theirs, tenant_id)
            for name in CUTS:
                if name not in arguments or function.__name__ in ASKS_WHICH_SPACES | COUNTS:
                    continue
                asked += 1
                where = f"{function.__module__}.{function.__name__}"
                async with trial(database) as session:
                    whole = _texts(await function(session, **{**arguments, name: uncut(name)}))
                    found = _texts(await function(session, **{**arguments, name: cut_to(theirs, name)}))
                assert not whole.isdisjoint(hidden), f"{where} finds nothing for who sees all"
                assert found.isdisjoint(hidden), f"{where} shows {found & hidden}"
        assert asked >= 8
        record_property("figures", f"{asked} of them cut to a space ({database.dialect})")

    def test_require_the_tenant(self) -> None:
        with report_all() as item:
            for function in FUNCTIONS:
                with item(f"{function.__module__}.{function.__name__}"):
                    self._requires_the_tenant(function)

    @staticmethod
    def _requires_the_tenant(function: Function) -> None:
        parameters = inspect.signature(function).parameters
        where = f"{function.__module__}.{function.__name__}"
        if function.__name__ in NEW_ROWS:
            assert not any(name.endswith(("_id", "_ids")) for name in parameters), f"{where} takes an id without tenant"
            return
        if function.__name__ in WORKER_ONLY:
            return
        if any(parameter.annotation is Seen for parameter in parameters.values()):
            return  # the runs that somebody may see: the tenant is a part of it, and has no default
        assert "tenant_id" in parameters, (
            f"{where} takes no tenant_id. Add it; or where it inserts a whole row say in NEW_ROWS what binds that to "
            "its tenant, or in WORKER_ONLY who calls it (tests/integration/isolation/functions.py)."
        )
        assert parameters["tenant_id"].default is inspect.Parameter.empty, f"{where} has a default tenant"
        assert parameters["tenant_id"].kind is inspect.Parameter.KEYWORD_ONLY


class TestRunStore:
    @pytest.fixture
    async def store(self, database: Database) -> AsyncIterator[RunStore]:
        found = build_store(database)
        await found.open()
        yield found
        await found.close()

    async def test_finds_and_changes_nothing_of_another_tenant(
        self, store: RunStore, database: Database, mine: World, theirs: World, record_property: Record
    ) -> None:
        before = digest(await rows_of(database, theirs.principal))
        calls = store_calls(theirs, mine.principal.tenant_id)
        for name, call in calls.items():
            try:
                answer = await getattr(store, name)(*call.arguments)
            except (HeadgateError, sqlite3.IntegrityError, psycopg.IntegrityError):
                refused = True
            else:
                refused = call.refusal(answer)
            assert refused, f"RunStore.{name} answered another tenant"
            assert digest(await rows_of(database, theirs.principal)) == before, f"RunStore.{name} changed its rows"
        record_property("figures", f"{len(calls)} methods of the run store ({database.dialect})")

    async def test_answers_the_owner(self, store: RunStore, theirs: World) -> None:
        calls = store_calls(theirs, theirs.principal.tenant_id)
        for name in ("read", "past_turns", "take_over", "resume"):
            answer = await getattr(store, name)(*calls[name].arguments)
            assert not calls[name].refusal(answer), f"RunStore.{name} says nothing to the owner"

    def test_is_known_method_by_method(self, theirs: World) -> None:
        known = store_calls(theirs, "").keys() | ENGINE_ONLY.keys()
        assert set(store_methods()) == known, (
            "A method of the run store is new (or gone): add a call to store_calls, or where it needs no tenant say "
            "why in ENGINE_ONLY (tests/integration/isolation/functions.py)."
        )


@dataclass(frozen=True)
class Asked:
    """What a function answered."""

    anything: bool
    names_theirs: bool
    text: str
    rows: dict[str, str]
    """All rows of the tenant whose ids were given, after it."""


async def _asked(
    database: Database, function: Function, of: World, tenant_id: str, secrets: set[str], *, before: dict[str, str]
) -> Asked:
    """Ask about one tenant's ids in the name of a tenant; what the database refuses is found and changed by nobody.

    The rows are those `before` where no statement could change any: reading all tables again takes longest.
    """
    arguments = _arguments(function, of, tenant_id)
    async with trial(database) as session:
        changing = await changing_statements(session)
        found: Any = None
        with suppress(sqlalchemy.exc.IntegrityError):
            async with session.begin_nested():
                found = await function(session, **arguments)
        yes = found is True and not OWNED.keys().isdisjoint(arguments)
        shown = yes or not secrets.isdisjoint(_texts(found))
        rows = digest(await rows_in(session, of.principal)) if changing else before
        return Asked(bool(found), shown, str(found)[:300], rows)


def _arguments(function: Function, of: World, tenant_id: str) -> dict[str, Any]:
    try:
        return arguments_of(function, of, tenant_id)
    except Unknown as problem:
        raise AssertionError(f"The matrix {problem}") from problem


def _texts(found: Any) -> set[str]:
    """Every text in an answer: in rows, in their columns, in the keys and values of mappings."""
    if isinstance(found, str):
        return {found}
    if isinstance(found, Row):
        return _texts([getattr(found, one.key) for one in sqlalchemy.inspect(found).mapper.column_attrs])
    if isinstance(found, Mapping):
        return _texts([*found.keys(), *found.values()])
    if is_dataclass(found) and not isinstance(found, type):
        return _texts(list(vars(found).values()) if hasattr(found, "__dict__") else list(astuple(found)))
    if isinstance(found, Sequence | AbstractSet) and not isinstance(found, bytes):
        return {text for one in found for text in _texts(one)}
    return set()
