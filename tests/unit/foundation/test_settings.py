from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from headgate.foundation.settings import Settings
from tests.support.report_all import report_all


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No `.env` of the developer, no variables of theirs."""
    monkeypatch.chdir(tmp_path)
    for name in ("HEADGATE_DATA_DIR", "HEADGATE_SECRET_KEY", "HEADGATE_DATABASE__URL"):
        monkeypatch.delenv(name, raising=False)


def every_setting(model: type[BaseModel] = Settings, prefix: str = "HEADGATE_") -> Iterator[tuple[str, FieldInfo]]:
    """The variable and the field of each setting."""
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from every_setting(kind, f"{prefix}{name.upper()}__")
        else:
            yield prefix + name.upper(), field


SETTINGS = dict(every_setting())
OPTIONAL = sorted(name for name, field in SETTINGS.items() if type(None) in get_args(field.annotation))


def value_of(settings: Settings, variable: str) -> Any:
    value: Any = settings
    for part in variable.removeprefix("HEADGATE_").lower().split("__"):
        value = getattr(value, part)
    return value


class TestEmptyVariables:
    def test_leave_an_optional_setting_out_and_keep_the_default_of_any_other(self) -> None:
        defaults = Settings()
        with report_all() as item:
            for variable in SETTINGS:
                with item(variable), pytest.MonkeyPatch.context() as patch:
                    patch.setenv(variable, "")
                    default = None if variable in OPTIONAL else value_of(defaults, variable)
                    assert value_of(Settings(), variable) == default

    def test_in_a_file_are_the_same(self, tmp_path: Path) -> None:
        (tmp_path / ".env").write_text("HEADGATE_RETENTION__SESSION_DAYS=\nHEADGATE_HTTP__ALLOWED_INTERNAL_CIDRS=\n")
        assert Settings().retention.session_days is None
        assert Settings().http.allowed_internal_cidrs == []

    def test_are_many(self) -> None:
        assert "HEADGATE_RETENTION__RUN_DAYS" in OPTIONAL
        assert len(OPTIONAL) > 10


class TestSettings:
    def test_work_without_any_variable(self) -> None:
        settings = Settings()
        assert settings.server.host == "127.0.0.1"
        assert settings.database_url == f"sqlite+aiosqlite:///{settings.data_dir / 'headgate.db'}"

    def test_read_nested_values_from_the_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HEADGATE_SERVER__PORT", "8123")
        monkeypatch.setenv("HEADGATE_HTTP__ALLOWED_INTERNAL_CIDRS", '["10.0.0.0/8", "fd00::/8"]')
        settings = Settings()
        assert settings.server.port == 8123
        assert settings.http.allowed_internal_cidrs == [ip_network("10.0.0.0/8"), ip_network("fd00::/8")]

    def test_read_a_dotenv_file(self, tmp_path: Path) -> None:
        (tmp_path / ".env").write_text("HEADGATE_LOG__FORMAT=json\nUNRELATED=1\n")
        assert Settings().log.format == "json"

    def test_prefer_the_environment_to_the_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / ".env").write_text("HEADGATE_LOG__LEVEL=debug\n")
        monkeypatch.setenv("HEADGATE_LOG__LEVEL", "error")
        assert Settings().log.level == "error"

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("HEADGATE_SERVER__PORT", "70000"),
            ("HEADGATE_SERVER__PORT", "http"),
            ("HEADGATE_ENGINE__MAX_CONCURRENT_RUNS", "0"),
            ("HEADGATE_DATABASE__SYNCHRONOUS", "OFF"),
            ("HEADGATE_HTTP__ALLOWED_INTERNAL_CIDRS", '["10.0.0.1/8"]'),
            ("HEADGATE_LOG__LEVEL", "loud"),
        ],
    )
    def test_refuse_values_out_of_range(self, monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
        monkeypatch.setenv(name, value)
        with pytest.raises(ValidationError):
            Settings()

    def test_do_not_show_the_secret_key(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HEADGATE_SECRET_KEY", "c2VjcmV0LWtleQ==")
        settings = Settings()
        assert "c2VjcmV0" not in repr(settings) + settings.model_dump_json()

    def test_use_the_url_that_is_given(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HEADGATE_DATABASE__URL", "postgresql+psycopg://u@h/d")
        assert Settings().database_url == "postgresql+psycopg://u@h/d"
