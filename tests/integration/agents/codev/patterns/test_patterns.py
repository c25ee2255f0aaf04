"""The library of patterns on both databases: kept once, found by words, counted, forgotten, and seen by nobody else."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import event, func, insert, select, text

from headgate.agents.codev.domain import Answer, Held
from headgate.agents.codev.patterns import service
from headgate.agents.codev.patterns.library import PatternLibrary
from headgate.agents.codev.patterns.routes import router
from headgate.agents.codev.patterns.service import stems
from headgate.agents.codev.tables import PatternRow, PatternUseRow, PatternWordRow
from headgate.features.access.permissions import Role
from headgate.features.access.principal import DEFAULT_TENANT_ID, LOCAL, Principal
from headgate.features.audit.tables import AuditEvent
from headgate.foundation.database import Database, now
from headgate.foundation.ids import new_id
from headgate.graph.spec import parse_spec
from tests.support.api import api
from tests.support.tenants import add_colleague, add_space, add_tenant

Record = Callable[[str, object], None]
FLOW = """name: Bot
nodes:
  ask: ChatInput
  reply: AIStep
    prompt: Answer {{ask.text}} briefly.
  out: ChatOutput
edges:
  ask.text -> reply.input
  reply.output -> out.input
"""


def held(text: str = FLOW, name: str = "Support bot") -> Held:
    return Held("flow", name, parse_spec(text).model_dump(mode="json"), "mark")


def library(
    database: Database, principal: Principal = LOCAL, session_id: str = "one", domain: str = "headgate"
) -> PatternLibrary:
    return PatternLibrary(database, principal, principal.space_id, domain, session_id)


async def call(found: PatternLibrary, name: str, **arguments: Any) -> Answer:
    tool = next(tool for tool in found.tools() if tool.name == name)
    assert tool.read is not None
    return await tool.read(arguments)


async def found_ids(found: PatternLibrary, keywords: str) -> list[Any]:
    answer = await call(found, "search_patterns", keywords=keywords)
    patterns: Any = answer["patterns"]
    return [one["id"] for one in patterns]


async def keep(database: Database, requirement: str, name: str = "Support bot", *, session_id: str = "") -> str:
    own = session_id or new_id()
    return await library(database, session_id=own).keep(requirement=requirement, held=held(name=name), session_id=own)


async def count_of(database: Database, pattern_id: str) -> int:
    async with database.reading() as session:
        return (await service.get_pattern(session, LOCAL, pattern_id)).success_count


class TestKeep:
    async def test_keeps_the_same_again_once_and_counts_it(self, database: Database) -> None:
        first = await keep(database, "A bot that answers")
        assert await keep(database, "a bot  that ANSWERS") == first
        assert await count_of(database, first) == 2
        assert await keep(database, "A bot that asks") != first

    async def test_counts_a_session_once_however_often_it_is_asked(self, database: Database) -> None:
        first = await keep(database, "A bot", session_id="s1")
        assert await keep(database, "A bot", session_id="s1") == first
        assert await count_of(database, first) == 1

    async def test_holds_no_secret_of_the_flow_or_of_the_words(self, database: Database) -> None:
        key = "sk-live-0123456789abcdefghij"
        flow = held(FLOW.replace("briefly", f"with {key}"), name=f"Bot {key}")
        made = await library(database).keep(requirement=f"A bot with {key}", held=flow, session_id="s")
        async with database.reading() as session:
            row = await service.get_pattern(session, LOCAL, made)
            rows = (await session.execute(select(PatternWordRow.word))).scalars().all()
        assert key not in f"{row.name} {row.requirement} {row.definition}"
        assert not any("0123456789" in word for word in rows)

    async def test_is_in_the_audit_log(self, database: Database) -> None:
        made = await keep(database, "A bot")
        async with database.reading() as session:
            rows = await session.execute(select(AuditEvent.action).where(AuditEvent.resource_id == made))
        assert rows.scalars().all() == ["pattern.kept"]

    async def test_lets_the_least_successful_oldest_go(
        self, database: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(service, "MOST_OF_A_SPACE", 3)
        used = await keep(database, "The first, used twice")
        await keep(database, "The first, used twice")
        names = [await keep(database, f"Number {word}") for word in ("alpha", "beta", "gamma")]
        async with database.reading() as session:
            left = (await session.execute(select(PatternRow.id))).scalars().all()
            words = (await session.execute(select(PatternWordRow.pattern_id).distinct())).scalars().all()
        assert {*left} == {*words} == {used, *names[1:]}


class TestSearch:
    async def test_finds_other_forms_of_a_word(self, database: Database) -> None:
        made = await keep(database, "Summarises incoming invoices for accountants")
        assert await found_ids(library(database), "summarise an invoice") == [made]
        assert await found_ids(library(database), "accountant") == [made]

    async def test_finds_by_component(self, database: Database) -> None:
        made = await keep(database, "Anything")
        assert await found_ids(library(database), "AIStep") == [made]

    async def test_puts_the_better_match_first_then_what_succeeded_more(self, database: Database) -> None:
        once = await keep(database, "Translate letters into French", "Letters")
        twice = await keep(database, "Translate letters into German", "Letters")
        await keep(database, "Translate letters into German", "Letters")
        other = await keep(database, "Translate menus", "Menus")
        assert await found_ids(library(database), "translate letters") == [twice, once, other]
        assert (await found_ids(library(database), "translate letters french"))[0] == once

    @pytest.mark.parametrize("words", ["%", "_", "' OR 1=1 --", "*", '"', "NEAR(", "\0", "x" * 5_000, "()|&!:*"])
    async def test_takes_words_for_words(self, database: Database, words: str) -> None:
        await keep(database, "A bot")
        assert await found_ids(library(database), words) == [] if words.strip() else True

    async def test_answers_in_short(self, database: Database) -> None:
        await keep(database, "A bot that answers " * 300)
        answer: Any = await call(library(database), "search_patterns", keywords="bot")
        one = answer["patterns"][0]
        assert one.keys() == {"id", "name", "requirement", "components", "succeeded"}
        assert len(one["requirement"]) == 300
        assert one["components"] == ["ChatInput", "AIStep", "ChatOutput"]

    async def test_refuses_without_words(self, database: Database) -> None:
        assert (await call(library(database), "search_patterns"))["error"]

    async def test_shows_one_domain(self, database: Database) -> None:
        await keep(database, "A bot")
        assert await found_ids(library(database, domain="flowise"), "bot") == []

    async def test_is_quick_among_ten_thousand(self, database: Database, record_property: Record) -> None:
        await fill(database, 10_000)
        found = library(database)
        await found_ids(found, "invoice")  # the stemmer is imported
        times = []
        for words in ("mail an invoice to customers", "chat with documents in postgres", "agent 777", "bot"):
            tried = []
            for _ in range(3):
                begun = time.perf_counter()
                assert len(await found_ids(found, words)) == 8
                tried.append(1000 * (time.perf_counter() - begun))
            times.append(min(tried))  # other tests work beside this one
        record_property("figures", f"search among 10,000 patterns: {max(times):.0f} ms ({database.dialect})")
        assert max(times) < 500  # 25 ms on a machine at rest; a bad plan takes seconds


@pytest.mark.parametrize("settings", ["postgres"], indirect=True)
class TestSearchOfWhatWasNeverCounted:
    async def test_compares_no_hit_with_every_pattern(self, database: Database) -> None:
        asked: list[tuple[str, Any]] = []

        @event.listens_for(database.engine.sync_engine, "before_cursor_execute")
        def note(_connection: Any, _cursor: Any, statement: str, given: Any, *_more: Any) -> None:
            if "sum(" in statement and not asked:
                asked.append((statement, given))

        await fill(database, 1_000, counted=False)
        async with database.reading() as session:
            assert len(await service.search_patterns(session, LOCAL, "customers", limit=8)) == 8
            ((statement, given),) = asked
            plan = await (await session.connection()).exec_driver_sql(f"EXPLAIN {statement}", given)
            assert not [line for (line,) in plan.all() if "Nested Loop" in line]


class TestUse:
    async def test_tells_how_it_is_built(self, database: Database) -> None:
        made = await keep(database, "A bot")
        answer = await call(library(database), "use_pattern", id=made)
        assert "ask.text -> reply.input" in str(answer["definition"])
        assert "not an instruction" in str(answer["note"])

    async def test_counts_when_the_session_ends_well_and_not_before(self, database: Database) -> None:
        made = await keep(database, "A bot")
        for _ in range(2):
            await call(library(database, session_id="later"), "use_pattern", id=made)
        assert await count_of(database, made) == 1
        await keep(database, "Another bot altogether", session_id="later")
        assert await count_of(database, made) == 2
        await keep(database, "Another bot altogether", session_id="later")
        assert await count_of(database, made) == 2

    @pytest.mark.parametrize("wrong", ["", "nothing", None, 7, "01a20296-0000-7000-8000-000000000000"])
    async def test_refuses_an_id_that_is_none(self, database: Database, wrong: object) -> None:
        answer = await call(library(database), "use_pattern", id=wrong)
        assert answer["error"]
        assert answer["remedy"]

    async def test_refuses_a_pattern_of_another_domain(self, database: Database) -> None:
        made = await keep(database, "A bot")
        assert (await call(library(database, domain="flowise"), "use_pattern", id=made))["error"]
        async with database.reading() as session:
            uses = select(func.count()).select_from(PatternUseRow).where(PatternUseRow.session_id == "one")
            assert (await session.execute(uses)).scalar_one() == 0


class TestOthers:
    async def test_of_another_tenant_find_nothing(self, database: Database) -> None:
        made = await keep(database, "A bot")
        they = library(database, await add_tenant(database))
        assert await found_ids(they, "bot") == []
        assert (await call(they, "use_pattern", id=made))["error"]

    async def test_who_do_not_see_the_space_find_nothing(self, database: Database) -> None:
        made = await keep(database, "A bot")
        colleague = await add_colleague(database, "viewer", Role.VIEWER)
        assert await found_ids(library(database, colleague), "bot") == [made]
        elsewhere = new_id()
        owner = Principal(DEFAULT_TENANT_ID, LOCAL.user_id, elsewhere, LOCAL.access)
        await add_space(database, owner, name="Elsewhere")
        stranger = await add_colleague(database, "stranger", Role.OWNER, space_id=elsewhere)
        assert await found_ids(library(database, stranger), "bot") == []
        assert (await call(library(database, stranger), "use_pattern", id=made))["error"]


class TestRoutes:
    async def test_search_list_in_pages_read_and_delete(self, database: Database) -> None:
        made = [await keep(database, f"A bot for {word}") for word in ("cats", "dogs", "cows")]
        async with api(router, database=database) as client:
            assert [one["id"] for one in (await client.get("/codev/patterns?q=dog")).json()["items"]] == [made[1]]
            page = (await client.get("/codev/patterns?limit=2")).json()
            rest = (await client.get(f"/codev/patterns?limit=2&cursor={page['next_cursor']}")).json()
            assert [one["id"] for one in page["items"] + rest["items"]] == made[::-1]
            assert (await client.get("/codev/patterns?domain=flowise")).json()["items"] == []
            one = (await client.get(f"/codev/patterns/{made[0]}")).json()
            assert "reply: AIStep" in one["description"]
            assert (await client.delete(f"/codev/patterns/{made[0]}")).status_code == 204
            assert (await client.get(f"/codev/patterns/{made[0]}")).status_code == 404
            assert (await client.get("/codev/patterns?q=cats")).json()["items"] == []

    async def test_let_viewers_look_and_editors_delete(self, database: Database) -> None:
        made = await keep(database, "A bot")
        for role, status in ((Role.VIEWER, 403), (Role.EDITOR, 204)):
            who = await add_colleague(database, role.value, role)
            async with api(router, principal=who, database=database) as client:
                assert (await client.get(f"/codev/patterns/{made}")).status_code == 200
                assert (await client.delete(f"/codev/patterns/{made}")).status_code == status


async def fill(database: Database, count: int, *, counted: bool = True) -> None:
    """Many patterns at once: words that all have, words that few have."""
    topics = ["invoice", "mail", "documents", "postgres", "agent", "summary", "support", "translate", "report", "bot"]
    wanted = [
        f"{topics[n % 10]} {topics[n // 10 % 10]} chat with {topics[n // 100 % 10]}, number {n} for customers of shops"
        for n in range(count)
    ]
    rows = [
        {
            "id": new_id(),
            "tenant_id": LOCAL.tenant_id,
            "space_id": LOCAL.space_id,
            "domain": "headgate",
            "name": f"Flow {n}",
            "requirement": words,
            "words": "",
            "definition": {"nodes": [{"id": "a", "type": "ChatInput"}], "edges": []},
            "success_count": n % 7,
            "created_at": now(),
            "updated_at": now(),
        }
        for n, words in enumerate(wanted)
    ]
    index = [
        {"tenant_id": LOCAL.tenant_id, "word": word, "pattern_id": row["id"], "weight": 1}
        for row, told in zip(rows, wanted, strict=True)
        for word in stems(told)
    ]
    async with database.writing() as session:
        await session.execute(insert(PatternRow), rows)
        await session.execute(insert(PatternWordRow), index)
        if counted:
            await session.execute(text("ANALYZE"))  # as either database does by itself after a while
