"""What is known of own code, on both databases."""

from collections.abc import Sequence

from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import LOCAL
from headgate.features.catalog.own.checked import CheckedComponent, code_hash
from headgate.features.catalog.own.overlay import FlowCatalog
from headgate.features.catalog.own.store import OwnComponents, keep_component, known_components
from headgate.features.catalog.registry import Components, Registry
from headgate.foundation.database import Database
from headgate.graph.manifest import Manifest
from headgate.graph.model import Flow, Node
from headgate.graph.ports import PortType
from headgate.graph.template import OutputTemplate, Template
from tests.support.tenants import add_tenant


def made(code: str, type_: str = "Sample") -> CheckedComponent:
    outputs = (OutputTemplate(name="said", type=PortType.TEXT),)
    template = Template(type=type_, label=type_, description="", category="other", outputs=outputs)
    return CheckedComponent(code, template, Manifest(("headgate",), ("api.example.org",), files=True))


def flow_with(*codes: str) -> Flow:
    return Flow(nodes=tuple(Node(id=f"n{n}", type="Sample", code=code) for n, code in enumerate(codes)))


class TestKeepComponent:
    async def test_keeps_what_was_found_once_for_each_organisation(self, database: Database) -> None:
        other = await add_tenant(database)
        one = made("class Sample: ...\n")
        async with database.writing() as session:
            assert [await keep_component(session, LOCAL, one) for _ in range(2)] == [True, False]
            changed = CheckedComponent(one.code, made("", "Another").template, one.manifest)
            assert not await keep_component(session, LOCAL, changed)
        async with database.reading() as session:
            [found] = await known_components(session, [one.code, "x = 1"], tenant_id=LOCAL.tenant_id)
            assert (found.type, found.template, found.manifest) == (one.type, one.template, one.manifest)
            assert await known_components(session, [one.code], tenant_id=other.tenant_id) == []


class TestCodeHash:
    def test_does_not_count_what_travels_badly(self) -> None:
        assert code_hash("a = 1\r\nb = 2\r\n\n  ") == code_hash("a = 1\nb = 2")
        assert code_hash("a = 1") != code_hash(" a = 1")


class Refusing:
    """A source that must not be asked."""

    async def over(
        self, base: Registry, codes: Sequence[str], *, tenant_id: str, session: AsyncSession | None
    ) -> Components:
        raise AssertionError("a flow without code needs no query")


class TestForFlow:
    async def test_asks_nothing_for_a_flow_without_code(self) -> None:
        registry = Registry((), Refusing())
        assert await registry.for_flow("tenant", Flow(nodes=(Node(id="a", type="URL"),))) is registry

    async def test_asks_once_whatever_the_number_of_codes(self, database: Database) -> None:
        codes = [f"class Sample:\n    n = {n}\n" for n in range(3)]
        async with database.writing() as session:
            for code in codes:
                await keep_component(session, LOCAL, made(code))
        asked: list[str] = []
        event.listen(database.engine.sync_engine, "before_cursor_execute", lambda *told: asked.append(told[2]))
        catalog = await Registry((), OwnComponents(database)).for_flow(LOCAL.tenant_id, flow_with(*codes))
        assert isinstance(catalog, FlowCatalog)
        assert sum("own_components" in one for one in asked) == 1
        assert catalog.types() == ["Sample"]
        assert catalog.component("Sample") is catalog.component("Sample")
