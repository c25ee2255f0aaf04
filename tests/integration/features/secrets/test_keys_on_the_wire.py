"""What a flow can get sent where: real variables, real requests, a server that belongs to somebody else."""

from collections.abc import AsyncIterator, Iterator
from ipaddress import ip_network
from pathlib import Path

import pytest
from pydantic import SecretStr

from headgate.components.web.requests import HTTPRequest
from headgate.components.web.webhook import WebhookOut
from headgate.entrypoints.adapters import SpaceSecrets
from headgate.features.access.principal import LOCAL
from headgate.features.models.providers import PROVIDER_VARIABLES
from headgate.features.models.service import create_chat_model
from headgate.features.models.setup.space import SpaceModels
from headgate.features.secrets import service
from headgate.features.secrets.errors import VariableKept, VariableNotFound
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database
from headgate.foundation.guarded_http import AddressRefused, GuardedHttp
from headgate.foundation.keyring import new_ring
from headgate.foundation.settings import HttpSettings, Settings
from headgate.sdk import Model, SecretReference
from headgate.sdk.fakes import FakeContext
from tests.support.direct import DIRECT
from tests.support.openai_server import OpenAIServer
from tests.support.secret_reads import NotedReads
from tests.support.web import open_web
from tests.support.web_server import WebServer, answer, web_server

KEY = "sk-house-0123456789abcdef"


class Context(FakeContext):
    """A run context whose secrets and web are real."""

    def __init__(self, secrets: SpaceSecrets, http: GuardedHttp) -> None:
        super().__init__()
        self._real = secrets
        self.http = http  # type: ignore[assignment]

    async def secret(self, reference: SecretReference, *, url: str | None = None) -> SecretStr:
        return await self._real.secret(reference.name, url=url)


@pytest.fixture
def model_server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as found:
        yield found


@pytest.fixture
async def server() -> AsyncIterator[WebServer]:
    async with web_server() as found:
        found.on("/", answer(200, "ok", content_type="text/plain"))
        yield found


@pytest.fixture
def box(tmp_path: Path) -> SecretBox:
    return SecretBox(new_ring(Settings(data_dir=tmp_path / "keys")))


@pytest.fixture
def variables(database: Database, box: SecretBox) -> SpaceModels:
    """An installation whose environment holds its own key."""
    environment = {"OPENAI_COMPATIBLE_API_KEY": KEY, "OPENAI_API_KEY": KEY, "STRIPE_API_KEY": KEY}
    return SpaceModels(
        database,
        box,
        LOCAL.tenant_id,
        LOCAL.space_id,
        audit=NotedReads(),
        outgoing=DIRECT,
        listed=PROVIDER_VARIABLES,
        environment=environment,
    )


@pytest.fixture
async def context(variables: SpaceModels) -> AsyncIterator[Context]:
    http = GuardedHttp(HttpSettings(allowed_internal_cidrs=[ip_network("127.0.0.0/8")]), DIRECT)
    yield Context(SpaceSecrets(variables), http)
    await http.close()


async def store(database: Database, box: SecretBox, name: str, *hosts: str) -> None:
    async with database.writing() as session:
        await service.set_variable(session, LOCAL, box, name=name, value=SecretStr(KEY), hosts=hosts)


async def fetch(context: Context, url: str, name: str, scheme: str = "") -> None:
    headers = {"Authorization": SecretReference(name, scheme)}
    step = HTTPRequest.create({"url": url, "headers": headers}, node_id="n")
    await step.attach(context).produce("text")


async def sign(context: Context, url: str, secret: str) -> None:
    step = WebhookOut.create({"url": url, "payload": {}, "secret": SecretReference(secret)}, node_id="n")
    await step.attach(context).produce("response")


OPEN = HttpSettings(allowed_internal_cidrs=[ip_network("127.0.0.1/32")])


class TestModelKeys:
    @pytest.mark.parametrize("name", ["OPENAI_COMPATIBLE_API_KEY", "FREE"])
    async def test_never_reach_a_server_that_a_flow_chose(
        self, variables: SpaceModels, database: Database, box: SecretBox, model_server: OpenAIServer, name: str
    ) -> None:
        await store(database, box, "FREE")
        params = {"base_url": model_server.base_url}
        model = Model(provider="openai_compatible", name="m", params=params, api_key=SecretReference(name))
        with pytest.raises(VariableKept):
            await create_chat_model(model, variables, web=open_web(OPEN))
        assert model_server.asked == []

    async def test_do_not_go_along_unnamed_either(self, variables: SpaceModels, model_server: OpenAIServer) -> None:
        model_server.script(model_server.text("hi"))
        params = {"base_url": model_server.base_url}
        model = await create_chat_model(
            Model(provider="openai_compatible", name="m", params=params), variables, web=open_web(OPEN)
        )
        await model.ainvoke("hi")
        assert KEY not in str(model_server.asked[0].headers)

    async def test_reach_the_server_they_were_stored_for(
        self, variables: SpaceModels, database: Database, box: SecretBox, model_server: OpenAIServer
    ) -> None:
        await store(database, box, "MINE", model_server.base_url)
        model_server.script(model_server.text("hi"))
        params = {"base_url": model_server.base_url}
        chosen = Model(provider="openai_compatible", name="m", params=params, api_key=SecretReference("MINE"))
        model = await create_chat_model(chosen, variables, web=open_web(OPEN))
        await model.ainvoke("hi")
        assert model_server.asked[0].headers["authorization"] == f"Bearer {KEY}"


class TestSignatures:
    """A signature lets its receiver try out guesses of the secret, as often as they like."""

    @pytest.mark.parametrize("name", ["OPENAI_API_KEY", "TIED"])
    async def test_are_made_with_no_key_for_a_server_that_it_does_not_belong_to(
        self, context: Context, database: Database, box: SecretBox, server: WebServer, name: str
    ) -> None:
        await store(database, box, "TIED", "api.example.org")
        with pytest.raises(VariableKept):
            await sign(context, server.url("/"), name)
        assert server.requests == []

    @pytest.mark.parametrize("tied", [True, False])
    async def test_are_made_for_the_server_that_a_secret_was_stored_for_and_of_one_for_any(
        self, context: Context, database: Database, box: SecretBox, server: WebServer, *, tied: bool
    ) -> None:
        await store(database, box, "MINE", *([server.url("/")] if tied else []))
        await sign(context, server.url("/"), "MINE")
        assert "webhook-signature" in server.requests[0].headers


class TestHeaders:
    @pytest.mark.parametrize("name", ["OPENAI_API_KEY", "OPENAI_COMPATIBLE_API_KEY", "TIED"])
    async def test_carry_no_key_to_a_server_that_it_does_not_belong_to(
        self, context: Context, database: Database, box: SecretBox, server: WebServer, name: str
    ) -> None:
        await store(database, box, "TIED", "api.example.org")
        with pytest.raises(VariableKept):
            await fetch(context, server.url("/"), name, "Bearer")
        assert server.requests == []

    async def test_carry_a_providers_stored_key_to_no_one_else(
        self, context: Context, database: Database, box: SecretBox, server: WebServer
    ) -> None:
        await store(database, box, "OPENAI_API_KEY")
        with pytest.raises(VariableKept):
            await fetch(context, server.url("/"), "OPENAI_API_KEY")
        assert server.requests == []

    async def test_take_nothing_else_from_the_environment(self, context: Context, server: WebServer) -> None:
        with pytest.raises(VariableNotFound, match="STRIPE_API_KEY"):
            await fetch(context, server.url("/"), "STRIPE_API_KEY", "Bearer")
        assert server.requests == []

    @pytest.mark.parametrize("tied", [True, False])
    async def test_carry_a_variable_where_it_belongs(
        self, context: Context, database: Database, box: SecretBox, server: WebServer, *, tied: bool
    ) -> None:
        await store(database, box, "MINE", *([server.origin] if tied else []))
        await fetch(context, server.url("/"), "MINE", "Bearer")
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"

    async def test_carry_a_providers_key_to_the_server_set_for_it(
        self, context: Context, database: Database, box: SecretBox, server: WebServer
    ) -> None:
        async with database.writing() as session:
            await service.set_variable(
                session, LOCAL, box, name="OPENAI_BASE_URL", value=SecretStr(server.url("/v1")), secret=False
            )
        await fetch(context, server.url("/"), "OPENAI_API_KEY", "Bearer")
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


class TestModelServers:
    @staticmethod
    def web(model_server: OpenAIServer, *answers: str, open_to: str = "127.0.0.1/32") -> GuardedHttp:
        turns = list(answers)

        async def resolver(_host: str, _port: int) -> list[str]:
            return [turns.pop(0) if len(turns) > 1 else turns[0]]

        return GuardedHttp(HttpSettings(allowed_internal_cidrs=[ip_network(open_to)]), DIRECT, resolver=resolver)

    @staticmethod
    def model_at(model_server: OpenAIServer) -> Model:
        address = model_server.base_url.replace("127.0.0.1", "models.flow.example")
        return Model(provider="openai_compatible", name="m", params={"base_url": address, "max_retries": 0})

    async def test_that_a_flow_chose_are_called_through_the_guard(
        self, variables: SpaceModels, model_server: OpenAIServer
    ) -> None:
        web = self.web(model_server, "127.0.0.1")
        model_server.script(model_server.text("hi"))
        model = await create_chat_model(self.model_at(model_server), variables, web=web)
        assert (await model.ainvoke("hello")).text == "hi"
        await web.close()

    async def test_are_not_called_when_their_name_turns_inside_after_the_check(
        self, variables: SpaceModels, model_server: OpenAIServer
    ) -> None:
        web = self.web(model_server, "93.184.216.34", "127.0.0.1", open_to="10.0.0.0/8")
        model = await create_chat_model(self.model_at(model_server), variables, web=web)
        with pytest.raises(AddressRefused):
            await model.ainvoke("hello")
        assert model_server.asked == []
        await web.close()
