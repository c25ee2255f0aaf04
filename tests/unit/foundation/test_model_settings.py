import pytest
from pydantic import ValidationError

from headgate.foundation.settings import Settings


class TestModelSettings:
    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("HEADGATE_MODELS__DEFAULT", "gpt-5"),
            ("HEADGATE_MODELS__DEFAULT", "offline"),
            ("HEADGATE_MODELS__ASSISTANT", "of fline"),
            ("HEADGATE_MODELS__STEP", "openai/"),
            ("HEADGATE_MODELS__FALLBACK", '["gpt-5"]'),
            ("HEADGATE_MODELS__MIRROR", "ftp://files.example.org"),
            ("HEADGATE_CODEV__MODEL", "claude"),
            ("HEADGATE_MODELS__ASSISTANT_PARAMS__TIMEOUT_SECONDS", "soon"),
            ("HEADGATE_MODELS__CODEV_PARAMS__REASONING_EFFORT", "enormous"),
        ],
    )
    def test_a_wrong_value_is_refused_and_named(self, name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(name, value)
        with pytest.raises(ValidationError) as caught:
            Settings()
        place = "__".join(str(part) for part in caught.value.errors()[0]["loc"] if isinstance(part, str)).upper()
        assert name == f"HEADGATE_{place}"

    def test_parameters_of_a_role_are_read(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HEADGATE_MODELS__ASSISTANT", "vllm/org/model-1:latest")
        monkeypatch.setenv("HEADGATE_MODELS__ASSISTANT_PARAMS__TIMEOUT_SECONDS", "300")
        models = Settings().models
        assert (models.assistant, models.assistant_params.timeout_seconds) == ("vllm/org/model-1:latest", 300)
