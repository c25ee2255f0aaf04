import pytest
from pydantic import JsonValue, SecretStr

from headgate.features.models.credentials import Credentials, find_address, find_credentials, missing_variable
from headgate.features.models.errors import BadModelSettings, KeyMissing
from headgate.features.models.params import ModelParams
from headgate.features.models.providers import find_provider
from headgate.features.secrets.errors import VariableKept
from headgate.graph.secret_reference import SecretReference
from tests.support.keys import GivenKeys


async def find(provider_id: str, keys: GivenKeys, key: str = "", **params: JsonValue) -> Credentials:
    provider = find_provider(provider_id)
    api_key = SecretReference(key) if key else None
    return await find_credentials(provider, ModelParams.parse(params, provider=provider, api_key=api_key), keys)


def key_of(credentials: Credentials) -> str:
    secret = credentials.arguments["api_key"]
    assert isinstance(secret, SecretStr)
    return secret.get_secret_value()


class TestFindCredentials:
    async def test_finds_key_and_default_address(self) -> None:
        found = await find("openai", GivenKeys(OPENAI_API_KEY=" k1 "))
        assert key_of(found) == "k1"
        assert found.key_variable == "OPENAI_API_KEY"
        assert found.arguments["base_url"] == "https://api.openai.com/v1"

    async def test_passes_on_optional_settings_that_are_there(self) -> None:
        found = await find("openai", GivenKeys(OPENAI_API_KEY="k", OPENAI_ORG_ID="org-1"))
        assert found.arguments["organization"] == "org-1"

    async def test_takes_the_second_name_of_a_variable(self) -> None:
        found = await find("google", GivenKeys(GEMINI_API_KEY="g"))
        assert found.key_variable == "GEMINI_API_KEY"
        assert "base_url" not in found.arguments

    async def test_names_the_variable_that_is_missing_and_where_to_set_it(self) -> None:
        with pytest.raises(KeyMissing) as caught:
            await find("openai", GivenKeys(OPENAI_API_KEY="  "))
        assert "OPENAI_API_KEY" in caught.value.detail
        assert "headgate variables set OPENAI_API_KEY" in caught.value.remedy
        assert "environment" in caught.value.remedy

    async def test_names_the_users_own_variable_and_the_usual_one(self) -> None:
        with pytest.raises(KeyMissing) as caught:
            await find("openai", GivenKeys(OPENAI_API_KEY="k"), key="TEAM_KEY")
        assert "TEAM_KEY" in caught.value.detail
        assert "headgate variables set TEAM_KEY" in caught.value.remedy
        assert "OPENAI_API_KEY" in caught.value.remedy

    async def test_uses_the_users_own_variable(self) -> None:
        keys = GivenKeys(OPENAI_API_KEY="k", TEAM_KEY="t")
        found = await find("openai", keys, key="TEAM_KEY")
        assert (key_of(found), found.key_variable) == ("t", "TEAM_KEY")

    async def test_wants_every_required_setting(self) -> None:
        with pytest.raises(KeyMissing, match="WATSONX_URL"):
            await find("watsonx", GivenKeys(WATSONX_API_KEY="k"))
        with pytest.raises(KeyMissing, match="WATSONX_PROJECT_ID"):
            await find("watsonx", GivenKeys(WATSONX_API_KEY="k", WATSONX_URL="https://x.example"))

    async def test_wants_an_address_for_a_compatible_server(self) -> None:
        with pytest.raises(KeyMissing) as caught:
            await find("openai_compatible", GivenKeys())
        assert "base_url" in caught.value.remedy
        assert "OPENAI_COMPATIBLE_BASE_URL" in caught.value.remedy


HOUSE = {"OPENAI_COMPATIBLE_API_KEY": "house-key", "OPENAI_COMPATIBLE_BASE_URL": "https://models.house.example/v1"}


class TestKeysStayWhereTheyBelong:
    async def test_the_stored_server_gets_the_stored_key(self) -> None:
        found = await find("openai_compatible", GivenKeys(**HOUSE))
        assert key_of(found) == "house-key"

    async def test_another_path_of_the_stored_server_gets_it_too(self) -> None:
        found = await find("openai_compatible", GivenKeys(**HOUSE), base_url="https://models.house.example/v2")
        assert key_of(found) == "house-key"

    @pytest.mark.parametrize(
        "address",
        ["https://evil.example/v1", "http://models.house.example/v1", "https://models.house.example:8443/v1",
         "https://models.house.example.evil.example/v1"],
    )  # fmt: skip
    async def test_a_server_that_the_flow_chose_does_not(self, address: str) -> None:
        found = await find("openai_compatible", GivenKeys(**HOUSE), base_url=address)
        assert key_of(found) == "not-needed"
        assert found.arguments["base_url"] == address
        assert found.key_variable == ""

    @pytest.mark.parametrize("name", ["STRIPE_API_KEY", "OPENAI_COMPATIBLE_API_KEY", "TIED"])
    async def test_a_named_key_goes_to_no_server_it_was_not_stored_for(self, name: str) -> None:
        keys = GivenKeys(STRIPE_API_KEY="s", TIED="t", **HOUSE).tied("TIED", "https://other.example")
        with pytest.raises(VariableKept) as caught:
            await find("openai_compatible", keys, base_url="https://evil.example/v1", key=name)
        assert f"headgate variables set {name} --host https://evil.example" in caught.value.remedy

    async def test_a_named_key_goes_to_the_server_it_was_stored_for(self) -> None:
        keys = GivenKeys(TIED="t", **HOUSE).tied("TIED", "https://mine.example")
        found = await find("openai_compatible", keys, base_url="https://mine.example/v1", key="TIED")
        assert key_of(found) == "t"

    async def test_a_key_that_was_stored_for_another_server_does_not_go_to_the_providers(self) -> None:
        keys = GivenKeys(TIED="t", **HOUSE).tied("TIED", "https://mine.example")
        with pytest.raises(VariableKept):
            await find("openai_compatible", keys, key="TIED")

    async def test_a_flow_cannot_send_one_providers_key_to_another(self) -> None:
        keys = GivenKeys(OPENAI_API_KEY="k")
        with pytest.raises(BadModelSettings) as caught:
            await find("openai_compatible", keys, base_url="https://evil.example", key="OPENAI_API_KEY")
        assert "not sent" in caught.value.detail
        assert "OPENAI_API_KEY" not in keys.asked


class TestMissingVariable:
    def test_is_none_when_all_is_there(self) -> None:
        assert missing_variable(find_provider("openai"), frozenset({"OPENAI_API_KEY"})) is None

    def test_names_the_first(self) -> None:
        assert missing_variable(find_provider("watsonx"), frozenset()) == "WATSONX_API_KEY"


class TestFindAddress:
    async def test_prefers_the_variable(self) -> None:
        assert await find_address(find_provider("ollama"), GivenKeys(OLLAMA_BASE_URL="http://gpu:1")) == "http://gpu:1"
        assert await find_address(find_provider("ollama"), GivenKeys()) == "http://localhost:11434"
