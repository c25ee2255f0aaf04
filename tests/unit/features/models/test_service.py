from pathlib import Path

import pytest

from headgate.features.models import service
from headgate.features.models.errors import (
    BadModelSettings,
    KeyMissing,
    LocalModelMissing,
    UnknownProvider,
)
from headgate.features.models.local.models import LocalModels
from headgate.features.models.providers import PROVIDERS
from headgate.features.models.readiness import choose_model
from headgate.features.models.service import ProviderStatus, create_chat_model, list_providers
from headgate.features.models.setup.values import ModelRole
from headgate.features.models.tool_shim import ToolShim
from headgate.foundation.errors import Forbidden
from headgate.foundation.guarded_http import GuardedHttp
from headgate.foundation.settings import HttpSettings
from headgate.sdk import Model
from tests.support.direct import DIRECT
from tests.support.keys import GivenKeys
from tests.support.web import open_web

NOTHING = {"OLLAMA_BASE_URL": "http://127.0.0.1:9"}


@pytest.fixture
def local(tmp_path: Path) -> LocalModels:
    return LocalModels(models_dir=tmp_path)


def put(local: LocalModels, name: str) -> None:
    (local.models_dir / f"{name}.gguf").write_bytes(b"GGUF" + b"\0" * 2000)


async def status(provider_id: str, keys: GivenKeys, local: LocalModels | None = None) -> ProviderStatus:
    return next(one for one in await list_providers(keys, local=local) if one.id == provider_id)


class TestListProviders:
    async def test_lists_them_all_with_their_variables(self) -> None:
        statuses = await list_providers(GivenKeys(**NOTHING))
        assert [one.id for one in statuses] == list(PROVIDERS)
        assert statuses[0].variables == ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID")
        assert all(one.configured or one.remedy for one in statuses)

    async def test_queries_the_variables_of_all_at_once(self) -> None:
        keys = GivenKeys(**NOTHING)
        await list_providers(keys)
        assert keys.queries == 1

    async def test_is_ready_with_a_key(self) -> None:
        found = await status("openai", GivenKeys(OPENAI_API_KEY="k", **NOTHING))
        assert (found.configured, found.reason, found.remedy) == (True, "Ready.", "")
        assert "k" not in found.model_dump_json().split('"')

    async def test_names_the_variable_that_is_missing(self) -> None:
        found = await status("anthropic", GivenKeys(**NOTHING))
        assert not found.configured
        assert "ANTHROPIC_API_KEY" in found.reason
        assert found.remedy == "Set it: headgate variables set ANTHROPIC_API_KEY"

    async def test_names_the_extra_before_the_key(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(service, "is_installed", lambda _provider: False)
        found = await status("groq", GivenKeys(GROQ_API_KEY="k", **NOTHING))
        assert (found.configured, found.installed) == (False, False)
        assert found.remedy == "Install it with: pip install 'headgate[groq]'"

    async def test_a_local_model_counts_once_it_is_there(
        self, local: LocalModels, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(service, "is_installed", lambda _provider: True)
        keys = GivenKeys(**NOTHING)
        before = await status("local", keys, local)
        assert before.remedy == "Download one: headgate models pull qwen2.5-coder-1.5b"
        put(local, "house-model")
        after = await status("local", keys, local)
        assert (after.configured, after.default_model) == (True, "house-model")
        assert not (await status("local", keys, None)).configured

    async def test_ollama_counts_only_when_it_answers(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(service, "is_installed", lambda _provider: True)
        found = await status("ollama", GivenKeys(**NOTHING))
        assert found.reason == "No Ollama server answers at http://127.0.0.1:9."


class TestDefaultModel:
    async def test_is_the_first_configured_providers(self) -> None:
        choice = await choose_model(ModelRole.DEFAULT, GivenKeys(ANTHROPIC_API_KEY="k", **NOTHING))
        assert choice is not None
        assert choice.model.provider == "anthropic"

    async def test_is_none_when_no_provider_is_ready(self) -> None:
        assert await choose_model(ModelRole.DEFAULT, GivenKeys(**NOTHING)) is None

    async def test_passes_over_a_server_whose_models_are_unknown(self) -> None:
        keys = GivenKeys(OPENAI_COMPATIBLE_BASE_URL="http://127.0.0.1:9/v1", **NOTHING)
        assert await choose_model(ModelRole.DEFAULT, keys) is None


class TestCreateChatModel:
    async def test_fills_in_name_and_key_and_keeps_the_class(self) -> None:
        model = await create_chat_model(
            Model(provider="openai", name="gpt-4o", params={"max_tokens": 9}),
            GivenKeys(OPENAI_API_KEY="k-123456"),
            web=open_web(),
        )
        assert type(model).__name__ == "ChatOpenAI"
        assert "k-123456" not in repr(model)
        assert getattr(model, "model_name", "") == "gpt-4o"

    async def test_makes_one_class_a_provider(self) -> None:
        keys = GivenKeys(OPENAI_API_KEY="k")
        first = await create_chat_model(Model(provider="openai", name="a"), keys, web=open_web())
        second = await create_chat_model(Model(provider="openai", name="b"), keys, web=open_web())
        assert type(first) is type(second)

    async def test_fails_before_anything_is_loaded(self) -> None:
        with pytest.raises(UnknownProvider):
            await create_chat_model(Model(provider="opena", name="x"), GivenKeys(), web=open_web())
        with pytest.raises(KeyMissing, match="OPENAI_API_KEY"):
            await create_chat_model(Model(provider="openai", name="x"), GivenKeys(), web=open_web())
        with pytest.raises(BadModelSettings, match="temperatur"):
            await create_chat_model(
                Model(provider="openai", name="x", params={"temperatur": 1}), GivenKeys(), web=open_web()
            )

    async def test_asks_before_calling_an_address_of_the_flow(self) -> None:
        class Refusing(GuardedHttp):
            async def check(self, url: str) -> None:
                raise Forbidden(f"{url} is private.")

        keys = GivenKeys(OPENAI_COMPATIBLE_BASE_URL="http://10.0.0.1/v1")
        here = Model(provider="openai_compatible", name="x", params={"base_url": "http://169.254.169.254/v1"})
        with pytest.raises(Forbidden, match="is private"):
            await create_chat_model(here, keys, web=Refusing(HttpSettings(), DIRECT))
        trusted = Model(provider="openai_compatible", name="x")
        assert await create_chat_model(trusted, keys, web=Refusing(HttpSettings(), DIRECT))

    async def test_puts_the_shim_around_a_model_that_wants_it(self) -> None:
        keys = GivenKeys(OPENAI_COMPATIBLE_BASE_URL="http://127.0.0.1:9/v1")
        wanted = Model(provider="openai_compatible", name="x", params={"tool_shim": True})
        assert isinstance(await create_chat_model(wanted, keys, web=open_web()), ToolShim)
        assert not isinstance(
            await create_chat_model(Model(provider="openai_compatible", name="x"), keys, web=open_web()), ToolShim
        )

    async def test_says_how_to_get_a_local_model(self, local: LocalModels) -> None:
        with pytest.raises(LocalModelMissing, match="headgate models pull qwen2"):
            await create_chat_model(
                Model(provider="local", name="qwen2.5-coder-1.5b"), GivenKeys(), local=local, web=open_web()
            )
        with pytest.raises(BadModelSettings, match="disabled"):
            await create_chat_model(Model(provider="local", name="qwen2.5-coder-1.5b"), GivenKeys(), web=open_web())
