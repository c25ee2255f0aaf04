import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from headgate.features.models.errors import BadModelSettings
from headgate.features.models.params import ModelParams, accepted_params, constructor_arguments
from headgate.features.models.providers import PROVIDERS, find_provider
from headgate.graph.secret_reference import SecretReference


def parse(provider: str, **params: JsonValue) -> ModelParams:
    return ModelParams.parse(params, provider=find_provider(provider))


def refusal(provider: str, **params: JsonValue) -> BadModelSettings:
    with pytest.raises(BadModelSettings) as caught:
        parse(provider, **params)
    return caught.value


class TestParse:
    def test_leaves_out_what_is_null(self) -> None:
        assert parse("openai", temperature=None, max_tokens=5) == ModelParams(max_tokens=5)

    def test_names_the_nearest_for_an_unknown_setting(self) -> None:
        assert "Did you mean 'max_tokens'?" in refusal("openai", max_token=5).remedy

    def test_refuses_what_another_provider_takes(self) -> None:
        error = refusal("openai", context_window=4096)
        assert "OpenAI has no setting 'context_window'." in error.detail
        assert "temperature" in error.remedy

    @pytest.mark.parametrize(
        ("name", "value"),
        [("temperature", 3), ("temperature", "hot"), ("top_p", -0.1), ("max_tokens", 0), ("timeout_seconds", 0),
         ("timeout_seconds", 1e9), ("max_retries", 99), ("stop", "x"), ("reasoning_effort", "a lot!")],
    )  # fmt: skip
    def test_names_the_setting_that_is_out_of_range(self, name: str, value: JsonValue) -> None:
        error = refusal("openai", **{name: value})
        assert error.extra["setting"] == name
        assert f"'{name}'" in error.detail

    @pytest.mark.parametrize("name", ["api_key", "key", "token"])
    def test_refuses_a_key_in_a_flow_without_repeating_it(self, name: str) -> None:
        error = refusal("openai", **{name: "sk-do-not-show"})
        assert "sk-do-not-show" not in f"{error} {error.problem()} {error.__cause__}"
        assert '"api_key": {"secret": ' in error.remedy

    def test_refuses_a_reference_among_the_params(self) -> None:
        assert "'api_key'" in refusal("openai", api_key={"secret": "TEAM_KEY"}).detail

    def test_refuses_a_key_for_a_provider_that_takes_none(self) -> None:
        with pytest.raises(BadModelSettings, match="does not use a key"):
            ModelParams.parse({}, provider=PROVIDERS["ollama"], api_key=SecretReference("TEAM_KEY"))

    def test_refuses_an_address_for_a_provider_that_has_its_own(self) -> None:
        error = refusal("anthropic", base_url="https://evil.example")
        assert "ANTHROPIC_BASE_URL" in error.remedy
        assert "openai_compatible" in error.remedy

    @pytest.mark.parametrize(
        "address", ["ftp://host/v1", "localhost:8080", "https://", "http://user:hunter2@host/v1", "file:///etc/passwd"]
    )
    def test_refuses_what_is_no_web_address(self, address: str) -> None:
        error = refusal("openai_compatible", base_url=address)
        assert "base_url" in error.detail
        assert "hunter2" not in str(error)

    @given(
        params=st.dictionaries(
            st.text(max_size=20),
            st.none() | st.booleans() | st.floats() | st.text() | st.lists(st.integers()),
            max_size=4,
        ),
        provider=st.sampled_from(sorted(PROVIDERS)),
    )
    def test_takes_anything_or_says_what_is_wrong(self, params: dict[str, JsonValue], provider: str) -> None:
        refused = None
        try:
            ModelParams.parse(params, provider=PROVIDERS[provider])
        except BadModelSettings as error:
            refused = error
        assert refused is None or refused.remedy


class TestAcceptedParams:
    def test_offers_an_address_only_where_a_flow_may_give_one(self) -> None:
        assert "base_url" in accepted_params(PROVIDERS["ollama"])
        assert "base_url" not in accepted_params(PROVIDERS["openai"])


class TestConstructorArguments:
    def test_renames_parameters(self) -> None:
        arguments = constructor_arguments(PROVIDERS["google"], parse("google", max_tokens=9, timeout_seconds=3))
        assert arguments == {"max_output_tokens": 9, "timeout": 3}

    def test_nests_where_the_class_wants_it(self) -> None:
        arguments = constructor_arguments(PROVIDERS["ollama"], parse("ollama", timeout_seconds=3, context_window=4096))
        assert arguments == {"client_kwargs": {"timeout": 3}, "num_ctx": 4096}

    def test_always_sets_a_timeout(self) -> None:
        assert constructor_arguments(PROVIDERS["openai"], ModelParams())["timeout"] == 120
        assert constructor_arguments(PROVIDERS["local"], ModelParams())["timeout"] == 900

    def test_does_not_write_into_the_table(self) -> None:
        before = dict(PROVIDERS["openai_compatible"].fixed)
        constructor_arguments(PROVIDERS["openai_compatible"], parse("openai_compatible", max_tokens=5))
        assert dict(PROVIDERS["openai_compatible"].fixed) == before
