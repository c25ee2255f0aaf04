import asyncio
import io
import logging
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import httpx2
import pytest
from pydantic import SecretStr
from sqlalchemy import text

from headgate.features.access.principal import DEFAULT_TENANT_ID, LOCAL
from headgate.features.secrets import service
from headgate.features.secrets.errors import BadVariable, VariableKept, VariableNotFound
from headgate.features.secrets.lookup import Variables
from headgate.features.secrets.routes import router
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database
from headgate.foundation.errors import Unavailable
from headgate.foundation.guarded_http import BadUrl
from headgate.foundation.keyring import new_ring
from headgate.foundation.settings import Settings
from tests.support.api import api
from tests.support.direct import DIRECT
from tests.support.secret_reads import NotedReads
from tests.support.tenants import add_tenant

VALUE = "hunter22-very-secret"
LISTED = ["OPENAI_API_KEY", "LISTED_ID", "LISTED_URL"]


@pytest.fixture
def box(tmp_path: Path) -> SecretBox:
    return SecretBox(new_ring(Settings(data_dir=tmp_path / "keys")))


@pytest.fixture
async def client(database: Database, box: SecretBox) -> AsyncIterator[httpx2.AsyncClient]:
    async with api(router, database=database, box=box) as found:
        yield found


async def put(database: Database, box: SecretBox, name: str, value: str = VALUE, hosts: Sequence[str] = ()) -> None:
    async with database.writing() as session:
        await service.set_variable(session, LOCAL, box, name=name, value=SecretStr(value), hosts=hosts)


class TestSetVariable:
    async def test_keeps_the_value_encrypted(self, database: Database, box: SecretBox) -> None:
        await put(database, box, "OPENAI_API_KEY")
        async with database.reading() as session:
            token = (await session.execute(text("SELECT token FROM variables"))).scalar_one()
            row = await service.find_sendable(
                session, tenant_id=DEFAULT_TENANT_ID, space_id=LOCAL.space_id, name="OPENAI_API_KEY"
            )
        found = await service.reveal(row, box, NotedReads())
        assert VALUE.encode() not in bytes(token)
        assert found.get_secret_value() == VALUE

    async def test_replaces_the_value_before(self, database: Database, box: SecretBox) -> None:
        await put(database, box, "A", "one")
        await put(database, box, "A", "two")
        async with database.reading() as session:
            assert len(await service.list_variables(session, LOCAL)) == 1
            row = await service.find_sendable(session, tenant_id=DEFAULT_TENANT_ID, space_id=LOCAL.space_id, name="A")
        found = await service.reveal(row, box, NotedReads())
        assert found.get_secret_value() == "two"

    async def test_lets_two_set_the_same_name_at_once(self, database: Database, box: SecretBox) -> None:
        await asyncio.gather(*(put(database, box, "A", str(number)) for number in range(6)))
        async with database.reading() as session:
            assert [row.name for row in await service.list_variables(session, LOCAL)] == ["A"]

    @pytest.mark.parametrize("name", ["", "1A", "A B", "A-B", "Å", "A" * 129, "A\x00", "../A", "HEADGATE_SECRET_KEY"])
    async def test_refuses_other_names(self, database: Database, box: SecretBox, name: str) -> None:
        with pytest.raises(BadVariable):
            await put(database, box, name)

    @pytest.mark.parametrize("value", ["", "x" * 65_537, "hunter22\ud800"])
    async def test_refuses_other_values_without_showing_them(
        self, database: Database, box: SecretBox, value: str
    ) -> None:
        with pytest.raises(BadVariable) as caught:
            await put(database, box, "A", value)
        assert "hunter22" not in str(caught.value)
        assert caught.value.__cause__ is None


class TestVariables:
    def variables(self, database: Database, box: SecretBox, **environment: str) -> Variables:
        return Variables(
            database,
            box,
            DEFAULT_TENANT_ID,
            LOCAL.space_id,
            audit=NotedReads(),
            outgoing=DIRECT,
            listed=[*LISTED, "HEADGATE_SECRET_KEY"],
            environment=environment,
        )

    async def test_prefer_the_tenants_value_to_the_environment(self, database: Database, box: SecretBox) -> None:
        await put(database, box, "OPENAI_API_KEY", "tenant")
        found = await self.variables(database, box, OPENAI_API_KEY="server").key("OPENAI_API_KEY")
        assert found == SecretStr("tenant")

    @pytest.mark.parametrize("name", LISTED)
    async def test_take_listed_names_from_the_environment(self, database: Database, box: SecretBox, name: str) -> None:
        assert await self.variables(database, box, **{name: " value "}).key(name) == SecretStr("value")

    async def test_take_nothing_else_from_it(self, database: Database, box: SecretBox) -> None:
        for name in (
            "PATH", "HOME", "STRIPE_API_KEY", "GITHUB_TOKEN",
            "openai_api_key", "Openai_API_KEY", "_KEY", "HEADGATE_SECRET_KEY", "HEADGATE_X_URL",
            "headgate_api_key", "AWS_SECRET", "LISTED_IDS", "OPENAI_API_KEY\n", "A\x00_KEY",
        ):  # fmt: skip
            assert await self.variables(database, box, **{name: "value"}).key(name) is None, name

    @pytest.mark.parametrize("value", ["", "  ", "postgresql://anna:hunter22@db/x", "https://a:b@[::1/"])
    async def test_take_no_empty_value_and_no_address_with_a_password(
        self, database: Database, box: SecretBox, value: str
    ) -> None:
        assert await self.variables(database, box, LISTED_URL=value).key("LISTED_URL") is None

    async def test_give_to_a_flows_server_only_what_was_stored_for_it(self, database: Database, box: SecretBox) -> None:
        variables = self.variables(database, box, OPENAI_API_KEY="server", TIED="server")
        await put(database, box, "FREE")
        await put(database, box, "TIED", hosts=["api.example.org", "http://localhost:8000"])
        for address in ("https://api.example.org/v1?x=1", "https://API.example.org:443", "http://localhost:8000/a"):
            assert await variables.key_for("TIED", address) == SecretStr(VALUE)
        assert await variables.key_for("FREE", "https://any.example", bound=False) == SecretStr(VALUE)
        assert await variables.key_for("NOWHERE", "https://any.example") is None

    @pytest.mark.parametrize(
        "address",
        ["https://evil.example", "http://api.example.org", "https://api.example.org:8443", "https://api.example.org.evil",
         "https://localhost:8000", "https://sub.api.example.org"],
    )  # fmt: skip
    async def test_refuse_every_other_server(self, database: Database, box: SecretBox, address: str) -> None:
        variables = self.variables(database, box, OPENAI_API_KEY="server")
        await put(database, box, "FREE")
        await put(database, box, "TIED", hosts=["api.example.org", "http://localhost:8000"])
        for name, bound in (("TIED", True), ("TIED", False), ("FREE", True), ("OPENAI_API_KEY", False)):
            with pytest.raises(VariableKept) as caught:
                await variables.key_for(name, address, bound=bound)
            assert f"headgate variables set {name} --host" in caught.value.remedy
            assert VALUE not in str(caught.value)

    async def test_refuse_a_host_that_is_none(self, database: Database, box: SecretBox) -> None:
        with pytest.raises(BadUrl):
            await put(database, box, "A", hosts=["not a host"])

    async def test_do_not_see_those_of_another_tenant(self, database: Database, box: SecretBox) -> None:
        await put(database, box, "SHARED_NAME")
        other = await add_tenant(database)
        assert (
            await Variables(database, box, other.tenant_id, audit=NotedReads(), environment={}, outgoing=DIRECT).key(
                "SHARED_NAME"
            )
            is None
        )

    async def test_name_what_is_missing(self, database: Database, box: SecretBox) -> None:
        with pytest.raises(VariableNotFound, match="MY_TOKEN"):
            await self.variables(database, box).require("MY_TOKEN")

    async def test_say_that_the_key_is_another(self, database: Database, box: SecretBox, tmp_path: Path) -> None:
        await put(database, box, "A")
        another = SecretBox(new_ring(Settings(data_dir=tmp_path / "other")))
        with pytest.raises(Unavailable, match="is missing on this machine"):
            await self.variables(database, another).key("A")


class TestRoutes:
    async def test_set_list_and_delete(self, client: httpx2.AsyncClient) -> None:
        assert (await client.put("/variables/B_KEY", json={"value": VALUE})).status_code == 200
        assert (await client.put("/variables/A_URL", json={"value": "http://x", "secret": False})).status_code == 200
        items = (await client.get("/variables")).json()["items"]
        assert [(item["name"], item["secret"]) for item in items] == [("A_URL", False), ("B_KEY", True)]
        assert (await client.delete("/variables/B_KEY")).status_code == 204
        assert [item["name"] for item in (await client.get("/variables")).json()["items"]] == ["A_URL"]

    async def test_never_give_a_value_out(self, client: httpx2.AsyncClient, capfd: pytest.CaptureFixture[str]) -> None:
        stream = io.StringIO()
        handler = logging.StreamHandler(stream)
        logging.getLogger().addHandler(handler)
        answers = [
            await client.put("/variables/A", json={"value": VALUE}),
            await client.get("/variables"),
            await client.put("/variables/1A", json={"value": VALUE}),
            await client.put("/variables/A", json={"value": [VALUE]}),
            await client.put("/variables/A", json={"value": {"x": VALUE}}),
            await client.put("/variables/A", json={"value": VALUE, "secret": VALUE}),
            await client.put("/variables/A", json={"value": VALUE, "more": VALUE}),
            await client.put("/variables/A", json={"value": VALUE * 5000}),
            await client.put("/variables/A", content=f'{{"value": "{VALUE}'),
            await client.delete("/variables/A"),
        ]
        logging.getLogger().removeHandler(handler)
        assert [answer.status_code for answer in answers] == [200, 200, 422, 422, 422, 422, 422, 422, 422, 204]
        assert not any(VALUE in answer.text for answer in answers)
        printed = capfd.readouterr()
        assert VALUE not in stream.getvalue() + printed.out + printed.err

    async def test_answer_404_for_what_is_not_there(self, client: httpx2.AsyncClient) -> None:
        for name in ("NEVER", "1A", "%00", "A" * 500):
            answer = await client.delete(f"/variables/{name}")
            assert (answer.status_code, answer.json()["code"]) == (404, "variable_not_found")

    async def test_keep_tenants_apart(self, client: httpx2.AsyncClient, database: Database, box: SecretBox) -> None:
        await client.put("/variables/A", json={"value": VALUE})
        async with api(router, principal=await add_tenant(database), database=database, box=box) as theirs:
            assert (await theirs.get("/variables")).json()["items"] == []
            assert (await theirs.delete("/variables/A")).status_code == 404
            assert (await theirs.put("/variables/A", json={"value": "theirs"})).status_code == 200
        async with database.reading() as session:
            row = await service.find_sendable(session, tenant_id=DEFAULT_TENANT_ID, space_id=LOCAL.space_id, name="A")
        found = await service.reveal(row, box, NotedReads())
        assert found.get_secret_value() == VALUE
