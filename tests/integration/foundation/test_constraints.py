"""What the database itself refuses, whatever the code does: tenants or flows mixed, cycles, changed versions."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from sqlalchemy import Table, insert, text, update
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import DEFAULT_SPACE_ID, DEFAULT_TENANT_ID
from headgate.features.accounts.tables import Space, Tenant
from headgate.features.files.tables import StoredFile
from headgate.features.flows.tables import FlowRow, FlowVersionRow, VersionEdgeRow, VersionStepRow
from headgate.features.runs.tables import flow_runs, flow_step_attempts, flow_step_results
from headgate.foundation.database import Database, now
from headgate.foundation.ids import new_id

pytestmark = pytest.mark.both_databases

OTHER_TENANT = new_id()
OTHER_SPACE = new_id()
FLOW, SIBLING, STRANGER = new_id(), new_id(), new_id()
"""Two flows of the default tenant and one of another tenant; each has versions 1 and 2 with the steps a, b, c."""
RUN, STRANGE_RUN = new_id(), new_id()

Write = Callable[[AsyncSession], Awaitable[object]]


def flow(flow_id: str, tenant_id: str, space_id: str) -> FlowRow:
    return FlowRow(id=flow_id, tenant_id=tenant_id, space_id=space_id, name="f", draft={})


def version(flow_id: str, number: int, tenant_id: str, **changed: Any) -> FlowVersionRow:
    fields = {"checksum": f"{number:064}", "logic_checksum": "0" * 64, "definition": {}, "headgate_version": "0"}
    return FlowVersionRow(flow_id=flow_id, version=number, tenant_id=tenant_id, **fields | changed)


def step(flow_id: str, number: int, name: str, order: int) -> VersionStepRow:
    return VersionStepRow(flow_id=flow_id, version=number, step_id=name, step_order=order, type="TextInput")


def edge(parent: tuple[str, int], child: tuple[str, int], flow_id: str = FLOW, number: int = 1) -> VersionEdgeRow:
    return VersionEdgeRow(
        flow_id=flow_id,
        version=number,
        parent_step_id=parent[0],
        parent_order=parent[1],
        child_step_id=child[0],
        child_order=child[1],
    )


def run(run_id: str, **changed: Any) -> Any:
    fields = {
        "id": run_id,
        "tenant_id": DEFAULT_TENANT_ID,
        "flow_id": FLOW,
        "version": 1,
        "status": "queued",
        "unfinished": 3,
        "input_payload": {},
        "created_at": 1,
    }
    return insert(flow_runs).values(fields | changed)


def result(**changed: Any) -> Any:
    fields = {
        "flow_run_id": RUN,
        "tenant_id": DEFAULT_TENANT_ID,
        "flow_id": FLOW,
        "version": 1,
        "step_id": "a",
        "step_order": 1,
        "status": "pending",
        "waiting": 0,
        "attempts": 0,
    }
    return insert(flow_step_results).values(fields | changed)


def attempt(**changed: Any) -> Any:
    fields = {
        "flow_run_id": RUN,
        "tenant_id": DEFAULT_TENANT_ID,
        "flow_id": FLOW,
        "version": 1,
        "step_id": "a",
        "step_order": 1,
        "attempt_no": 1,
        "status": "started",
        "started_at": 1,
    }
    return insert(flow_step_attempts).values(fields | changed)


@pytest.fixture
async def filled(database: Database) -> Database:
    """Flows of two tenants, with versions, steps and a run each."""
    async with database.writing() as session:
        session.add(Tenant(id=OTHER_TENANT, name="Other", created_at=now()))
        await session.flush()
        session.add(Space(id=OTHER_SPACE, tenant_id=OTHER_TENANT, name="Theirs", owner_user_id=None, created_at=now()))
        await session.flush()
        owners = {FLOW: DEFAULT_TENANT_ID, SIBLING: DEFAULT_TENANT_ID, STRANGER: OTHER_TENANT}
        for flow_id, tenant_id in owners.items():
            session.add(flow(flow_id, tenant_id, OTHER_SPACE if tenant_id == OTHER_TENANT else DEFAULT_SPACE_ID))
            await session.flush()
            for number in (1, 2):
                session.add(version(flow_id, number, tenant_id))
                await session.flush()
                session.add_all(step(flow_id, number, name, order) for order, name in enumerate("abc", start=1))
                await session.flush()
        await session.execute(run(RUN))
        await session.execute(run(STRANGE_RUN, tenant_id=OTHER_TENANT, flow_id=STRANGER))
    return database


async def refused(database: Database, write: Write, error: type[Exception] = IntegrityError) -> str:
    """Try a write that must fail; returns what the database said."""

    async def attempted() -> None:
        async with database.writing() as session:
            await write(session)

    with pytest.raises(error) as caught:
        await attempted()
    return str(caught.value)


def adding(*rows: object) -> Write:
    async def write(session: AsyncSession) -> None:
        session.add_all(rows)

    return write


def executing(statement: Any) -> Write:
    async def write(session: AsyncSession) -> None:
        await session.execute(statement)

    return write


class TestTenants:
    async def test_a_flow_cannot_be_in_the_space_of_another_tenant(self, filled: Database) -> None:
        await refused(filled, adding(flow(new_id(), DEFAULT_TENANT_ID, OTHER_SPACE)))

    async def test_a_flow_cannot_move_to_another_tenant(self, filled: Database) -> None:
        await refused(filled, executing(update(FlowRow).where(FlowRow.id == FLOW).values(tenant_id=OTHER_TENANT)))

    async def test_a_version_cannot_name_another_tenant_than_its_flow(self, filled: Database) -> None:
        await refused(filled, adding(version(FLOW, 3, OTHER_TENANT)))

    async def test_a_run_cannot_name_another_tenant_than_its_flow(self, filled: Database) -> None:
        await refused(filled, executing(run(new_id(), tenant_id=OTHER_TENANT)))

    async def test_a_step_result_cannot_name_another_tenant_than_its_run(self, filled: Database) -> None:
        await refused(filled, executing(result(tenant_id=OTHER_TENANT)))

    async def test_an_attempt_cannot_name_another_tenant_than_its_run(self, filled: Database) -> None:
        await refused(filled, executing(attempt(tenant_id=OTHER_TENANT)))


class TestFlows:
    async def test_a_run_cannot_be_pinned_to_the_version_of_no_or_another_flow(self, filled: Database) -> None:
        await refused(filled, executing(run(new_id(), version=9)))
        await refused(filled, executing(run(new_id(), flow_id=STRANGER)))

    @pytest.mark.parametrize("make", [result, attempt])
    async def test_a_result_or_attempt_cannot_name_another_flow_than_its_run(
        self, filled: Database, make: Callable[..., Any]
    ) -> None:
        await refused(filled, executing(make(flow_id=SIBLING)))
        await refused(filled, executing(make(flow_run_id=STRANGE_RUN)))

    @pytest.mark.parametrize("make", [result, attempt])
    async def test_a_result_or_attempt_is_of_a_step_that_the_version_has(
        self, filled: Database, make: Callable[..., Any]
    ) -> None:
        await refused(filled, executing(make(step_id="nowhere")))
        await refused(filled, executing(make(version=3)))

    @pytest.mark.parametrize("make", [result, attempt])
    async def test_a_result_or_attempt_is_kept_once(self, filled: Database, make: Callable[..., Any]) -> None:
        async with filled.writing() as session:
            await session.execute(make())
        await refused(filled, executing(make()))

    async def test_an_edge_joins_steps_of_its_own_version_only(self, filled: Database) -> None:
        async with filled.writing() as session:
            session.add(step(FLOW, 2, "only_in_two", 9))
        await refused(filled, adding(edge(("a", 1), ("only_in_two", 9), number=1)))
        await refused(filled, adding(edge(("a", 1), ("b", 2), flow_id=new_id())))


class TestGraph:
    async def test_takes_edges_that_go_forward(self, filled: Database) -> None:
        async with filled.writing() as session:
            session.add_all([edge(("a", 1), ("b", 2)), edge(("a", 1), ("c", 3)), edge(("b", 2), ("c", 3))])

    async def test_refuses_a_self_edge(self, filled: Database) -> None:
        await refused(filled, adding(edge(("a", 1), ("a", 1))))

    async def test_refuses_the_edge_that_would_close_a_cycle(self, filled: Database) -> None:
        async with filled.writing() as session:
            session.add_all([edge(("a", 1), ("b", 2)), edge(("b", 2), ("c", 3))])
        assert "no_cycle" in await refused(filled, adding(edge(("c", 3), ("a", 1))))

    async def test_refuses_an_edge_that_lies_about_the_order(self, filled: Database) -> None:
        await refused(filled, adding(edge(("c", 1), ("a", 3))))

    async def test_refuses_two_steps_at_one_place(self, filled: Database) -> None:
        await refused(filled, adding(step(FLOW, 1, "d", 3)))

    async def test_refuses_the_same_edge_twice(self, filled: Database) -> None:
        async with filled.writing() as session:
            session.add(edge(("a", 1), ("b", 2)))
        await refused(filled, executing(insert(VersionEdgeRow).values(
            flow_id=FLOW, version=1, parent_step_id="a", parent_order=1, child_step_id="b", child_order=2
        )))  # fmt: skip


class TestStates:
    @pytest.mark.parametrize(
        "statement",
        [
            run(new_id(), status="asleep"),
            result(status="queued"),
            attempt(status="pending"),
            attempt(attempt_no=0),
            result(waiting=-1),
        ],
    )
    async def test_refuses_states_and_counts_that_do_not_exist(self, filled: Database, statement: Any) -> None:
        await refused(filled, executing(statement))


class TestVersions:
    @pytest.mark.parametrize(
        "changed",
        [
            {"definition": {"name": "other"}},
            {"checksum": "f" * 64},
            {"logic_checksum": "f" * 64},
            {"headgate_version": "9"},
            {"created_at": now()},
            {"version": 7},
        ],
        ids=lambda changed: next(iter(changed)),
    )
    async def test_are_immutable(self, filled: Database, changed: dict[str, Any]) -> None:
        statement = update(FlowVersionRow).where(FlowVersionRow.flow_id == FLOW).values(changed)
        assert "immutable" in await refused(filled, executing(statement), DBAPIError)

    async def test_can_be_released_and_annotated(self, filled: Database) -> None:
        async with filled.writing() as session:
            await session.execute(
                update(FlowVersionRow)
                .where(FlowVersionRow.flow_id == FLOW, FlowVersionRow.version == 1)
                .values(release=1, released_at=now(), release_notes="first")
            )

    async def test_keep_one_release_number_and_one_checksum_for_each_flow(self, filled: Database) -> None:
        async with filled.writing() as session:
            await session.execute(
                update(FlowVersionRow)
                .where(FlowVersionRow.version == 1, FlowVersionRow.flow_id == FLOW)
                .values(release=1)
            )
        await refused(filled, adding(version(FLOW, 3, DEFAULT_TENANT_ID, release=1)))
        await refused(filled, adding(version(FLOW, 3, DEFAULT_TENANT_ID, checksum=f"{1:064}")))

    async def test_go_with_their_flow_and_take_everything_along(self, filled: Database) -> None:
        async with filled.writing() as session:
            session.add(edge(("a", 1), ("b", 2)))
            await session.execute(result())
            await session.execute(attempt())
        async with filled.writing() as session:
            await session.delete(await session.get_one(FlowRow, FLOW))
        async with filled.reading() as session:
            for table in ("flow_versions", "version_steps", "version_edges", "flow_runs", "flow_step_results",
                          "flow_step_attempts"):  # fmt: skip
                count = await session.execute(text(f"SELECT count(*) FROM {table} WHERE flow_id = :id"), {"id": FLOW})
                assert count.scalar_one() == 0, table


UPDATES = (
    "UPDATE flow_versions SET definition = '{}', checksum = 'x' WHERE version = 1",
    "UPDATE flow_versions SET release = 0 WHERE release = 1",
    "UPDATE flow_versions SET release = NULL WHERE release = 1",
    "UPDATE flow_versions SET release_notes = 'better' WHERE release = 1",
    "UPDATE version_steps SET type = 'HTTPRequest'",
    "UPDATE version_steps SET step_id = 'z' WHERE step_id = 'c'",
    "UPDATE version_edges SET child_step_id = 'c', child_order = 3",
    "UPDATE flow_step_attempts SET status = 'failed' WHERE attempt_no = 1",
    "UPDATE flow_step_attempts SET status = 'started' WHERE attempt_no = 1",
    "UPDATE flow_step_attempts SET error_message = 'harmless' WHERE attempt_no = 1",
    "UPDATE flow_step_attempts SET finished_at = 99 WHERE attempt_no = 1",
    "UPDATE flow_step_attempts SET attempt_no = 7 WHERE attempt_no = 2",
    "UPDATE flow_step_attempts SET started_at = 7 WHERE attempt_no = 2",
)
DELETES = (
    "DELETE FROM flow_versions WHERE version = 2",
    "DELETE FROM flow_versions",
    "DELETE FROM version_steps WHERE step_id = 'c'",
    "DELETE FROM version_edges",
    "DELETE FROM flow_step_attempts WHERE attempt_no = 1",
    "DELETE FROM flow_step_attempts",
)
INSERTS = (
    "INSERT INTO version_steps SELECT flow_id, 1, 'd', 4, type FROM version_steps WHERE version = 2 AND step_order = 1",
    "INSERT INTO version_edges SELECT flow_id, 1, 'a', 'c', 1, 3 FROM version_edges",
)
"""Into a version that is published."""
_AT_ANOTHERS_PLACE = (
    "REPLACE INTO version_steps (rowid, flow_id, version, step_id, step_order, type)"
    " SELECT 1, id, 2, 'z', 9, 'AIStep' FROM flows LIMIT 1"
)
REPLACES = (
    "INSERT OR REPLACE INTO flow_versions SELECT * FROM flow_versions",
    "REPLACE INTO version_steps SELECT * FROM version_steps",
    "REPLACE INTO version_edges SELECT * FROM version_edges",
    "REPLACE INTO flow_step_attempts SELECT * FROM flow_step_attempts",
    _AT_ANOTHERS_PLACE,
    "UPDATE OR REPLACE version_steps SET step_order = 3",
    "UPDATE OR REPLACE flow_versions SET release = 1 WHERE version = 2",
    "UPDATE OR REPLACE flow_step_attempts SET attempt_no = 1 WHERE attempt_no = 2",
)
TRUNCATES = ("flow_versions", "version_steps", "version_edges", "flow_step_attempts")


class TestRowGuards:
    """Tampering by SQL with what was published, and with how attempts ended."""

    @pytest.fixture
    async def published(self, filled: Database) -> Database:
        """Version 1 is release 1; its run has an attempt that ended and one that is running."""
        async with filled.writing() as session:
            session.add(edge(("a", 1), ("b", 2)))
            await session.flush()
            await session.execute(text("UPDATE flow_versions SET release = 1 WHERE version = 1"))
            await session.execute(attempt(status="retried", finished_at=2))
            await session.execute(attempt(attempt_no=2))
        return filled

    async def everything(self, database: Database) -> list[Any]:
        async with database.reading() as session:
            return [
                sorted(str(row) for row in (await session.execute(text(f"SELECT * FROM {table}"))).all())
                for table in TRUNCATES
            ]

    async def test_refuse(self, published: Database) -> None:
        before = await self.everything(published)
        for statement in (*UPDATES, *DELETES, *INSERTS):
            assert "immutable" in await refused(published, executing(text(statement))), statement
            assert await self.everything(published) == before, statement

    @pytest.mark.parametrize("statement", REPLACES)
    async def test_refuse_to_replace(self, published: Database, statement: str) -> None:
        if published.dialect != "sqlite":
            pytest.skip("REPLACE is SQLite's")
        before = await self.everything(published)
        assert "immutable" in await refused(published, executing(text(statement)))
        assert await self.everything(published) == before

    @pytest.mark.parametrize("table", TRUNCATES)
    async def test_refuse_to_truncate(self, published: Database, table: str) -> None:
        if published.dialect == "sqlite":
            pytest.skip("SQLite has no TRUNCATE; its DELETE of every row is refused above")
        assert "immutable" in await refused(published, executing(text(f"TRUNCATE {table} CASCADE")))

    async def test_let_an_attempt_end_once_and_keep_its_record_once(self, published: Database) -> None:
        async with published.writing() as session:
            await session.execute(
                text("UPDATE flow_step_attempts SET status = 'failed', finished_at = 3 WHERE attempt_no = 2")
            )
            await session.execute(text("""UPDATE flow_step_attempts SET record = '{"log": null}'"""))
        again = text("""UPDATE flow_step_attempts SET record = '{"log": []}' WHERE attempt_no = 2""")
        assert "immutable" in await refused(published, executing(again))

    @pytest.mark.parametrize(
        "statement",
        [
            "DELETE FROM flow_runs WHERE id = :run",
            "DELETE FROM flows WHERE id = :flow",
            f"DELETE FROM spaces WHERE id = '{DEFAULT_SPACE_ID}'",
        ],
    )
    async def test_let_a_whole_run_flow_or_space_go(self, published: Database, statement: str) -> None:
        async with published.writing() as session:
            given = {"run": RUN, "flow": FLOW}
            wanted = {name: value for name, value in given.items() if f":{name}" in statement}
            await session.execute(text(statement), wanted)
        async with published.reading() as session:
            count = await session.execute(text("SELECT count(*) FROM flow_step_attempts"))
            assert count.scalar_one() == 0
            versions = await session.execute(text(f"SELECT count(*) FROM flow_versions WHERE flow_id = '{FLOW}'"))
            assert versions.scalar_one() == (2 if "flow_runs" in statement else 0)


class TestIndexes:
    @pytest.mark.parametrize(
        ("table", "columns"),
        [
            (FlowRow.__table__, ("space_id", "deleted_at")),
            (FlowRow.__table__, ("tenant_id", "updated_at")),
            (flow_runs, ("flow_id", "status", "finished_at")),
            (flow_runs, ("tenant_id", "created_at")),
            (StoredFile.__table__, ("tenant_id", "created_at")),
            (StoredFile.__table__, ("flow_run_id",)),
        ],
    )
    def test_exist_for_what_is_asked_often(self, table: Table, columns: tuple[str, ...]) -> None:
        assert columns in {tuple(column.name for column in index.columns) for index in table.indexes}
