"""The audit log over HTTP: who may read it, filters, pages, checking, exporting."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import LOCAL, Access, Actor, Principal
from headgate.features.audit.actions import Action
from headgate.features.audit.export import verify_export
from headgate.features.audit.recorder import record
from headgate.features.audit.routes import router
from headgate.foundation.crypto import EvidenceSigner
from headgate.foundation.database import Database
from headgate.foundation.keyring import new_ring
from headgate.foundation.settings import Settings
from tests.support.api import api
from tests.support.tenants import add_tenant

KEYED = replace(LOCAL, actor=Actor("key", "Ada", key_id="k1", key_prefix="hg_abc", address="192.0.2.7"))


@pytest.fixture
async def client(database: Database, settings: Settings) -> AsyncIterator[httpx2.AsyncClient]:
    """One who may read it."""
    signer = EvidenceSigner(new_ring(settings))
    async with api(router, database=database, settings=settings, evidence_signer=signer) as found:
        yield found


async def write(database: Database, who: Principal, action: Action, id_: str, **more: Any) -> None:
    async with database.writing() as session:
        await record(session, who, action, id=id_, **more)


@pytest.fixture
async def four(database: Database) -> None:
    """Four entries, and one of another tenant."""
    await write(
        database, LOCAL, "flow.created", "f1", name="Invoices", space_id=LOCAL.space_id, after={"name": "Invoices"}
    )
    await write(database, KEYED, "flow.published", "f1", name="Invoices", space_id=LOCAL.space_id)
    await write(database, LOCAL, "variable.set", "TOKEN", payload={"token": "hunter22"})
    await write(database, KEYED, "run.started", "r1", payload={"n": 1})
    await write(database, await add_tenant(database), "flow.created", "theirs")


class TestList:
    @pytest.mark.usefixtures("four")
    async def test_shows_the_newest_first_page_by_page(self, client: httpx2.AsyncClient) -> None:
        first = (await client.get("/audit", params={"limit": 3})).json()
        second = (await client.get("/audit", params={"limit": 3, "cursor": first["next_cursor"]})).json()
        assert [one["seq"] for one in first["items"]] == [4, 3, 2]
        assert ([one["seq"] for one in second["items"]], second["next_cursor"]) == ([1], None)
        started = first["items"][0]
        assert started["actor"] == {
            "kind": "key",
            "id": LOCAL.user_id,
            "name": "Ada",
            "key_id": "k1",
            "key_prefix": "hg_abc",
            "address": "192.0.2.7",
        }
        assert started["payload"] == {"n": 1}
        assert "hunter22" not in str(first)

    @pytest.mark.usefixtures("four")
    @pytest.mark.parametrize(
        ("wanted", "seqs"),
        [
            ({"actor": "Ada"}, [4, 2]),
            ({"actor": LOCAL.user_id}, [4, 3, 2, 1]),
            ({"key": "hg_abc"}, [4, 2]),
            ({"key": "k1", "action": "flow."}, [2]),
            ({"action": "flow."}, [2, 1]),
            ({"action": "%"}, []),
            ({"resource_kind": "variable"}, [3]),
            ({"resource_id": "f1"}, [2, 1]),
            ({"resource_id": "theirs"}, []),
            ({"space_id": LOCAL.space_id}, [2, 1]),
            ({"since": "2999-01-01T00:00:00Z"}, []),
            ({"until": "2999-01-01T00:00:00Z"}, [4, 3, 2, 1]),
        ],
    )
    async def test_filters(self, client: httpx2.AsyncClient, wanted: dict[str, str], seqs: list[int]) -> None:
        answer = await client.get("/audit", params=wanted)
        assert [one["seq"] for one in answer.json()["items"]] == seqs

    @pytest.mark.parametrize(
        "wanted", [{"cursor": "x"}, {"cursor": "-1"}, {"cursor": "9" * 30}, {"since": "2026-01-01"}, {"actor": "a\0b"}]
    )
    async def test_refuses_what_it_cannot_ask_for(self, client: httpx2.AsyncClient, wanted: dict[str, str]) -> None:
        assert (await client.get("/audit", params=wanted)).status_code == 422

    @pytest.mark.usefixtures("four")
    @pytest.mark.parametrize("path", ["/audit", "/audit/head", "/audit/verify", "/audit/export"])
    @pytest.mark.parametrize(
        "access",
        [
            Access(),
            Access(admin=True, scopes=frozenset({Permission.FLOWS_VIEW})),
            Access(admin=True, spaces=frozenset({LOCAL.space_id})),
        ],
    )
    async def test_is_for_admins_of_the_whole_tenant(
        self, database: Database, settings: Settings, path: str, access: Access
    ) -> None:
        async with api(router, principal=replace(LOCAL, access=access), database=database, settings=settings) as asking:
            answer = await asking.get(path)
        assert (answer.status_code, answer.json()["permission"]) == (403, "audit.view")


class TestVerify:
    @pytest.mark.usefixtures("four")
    async def test_compares_with_what_was_noted(self, client: httpx2.AsyncClient) -> None:
        noted = (await client.get("/audit/head")).json()
        assert noted["seq"] == 4
        answer = (await client.get("/audit/verify", params=noted)).json()
        assert (answer["verified"], answer["entries"], answer["faults"]) == (True, 4, [])
        wrong = (await client.get("/audit/verify", params=noted | {"seq": 2})).json()
        assert [one["where"] for one in wrong["faults"]] == ["entry 2"]

    async def test_needs_a_place_with_its_hash(self, client: httpx2.AsyncClient) -> None:
        assert (await client.get("/audit/verify", params={"seq": 2})).status_code == 422


class TestExport:
    @pytest.mark.usefixtures("four")
    async def test_verifies_offline(self, client: httpx2.AsyncClient) -> None:
        answer = await client.get("/audit/export")
        assert answer.headers["content-type"] == "application/jsonl"
        verdict = verify_export(answer.content.splitlines(keepends=True))
        assert (verdict.faults, verdict.entries, verdict.seq) == ([], 4, 4)
        assert b"theirs" not in answer.content

    @pytest.mark.usefixtures("four")
    async def test_of_a_period_is_the_part_of_the_chain_in_it(self, client: httpx2.AsyncClient) -> None:
        second = (await client.get("/audit")).json()["items"][2]["at"]
        answer = await client.get("/audit/export", params={"since": second})
        verdict = verify_export(answer.content.splitlines(keepends=True))
        assert (verdict.faults, verdict.entries, len(verdict.notes)) == ([], 3, 1)
        empty = await client.get("/audit/export", params={"since": "2999-01-01T00:00:00Z"})
        nothing = verify_export(empty.content.splitlines(keepends=True))
        assert (nothing.faults, nothing.entries) == ([], 0)

    @pytest.mark.usefixtures("four")
    async def test_as_csv_is_for_people(self, client: httpx2.AsyncClient) -> None:
        answer = await client.get("/audit/export", params={"format": "csv"})
        assert answer.headers["content-disposition"] == 'attachment; filename="audit-1-4.csv"'
        assert len(answer.text.splitlines()) == 5
