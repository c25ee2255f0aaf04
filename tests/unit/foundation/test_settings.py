from ipaddress import ip_network
from pathlib import Path

import pytest
from pydantic import ValidationError

from headgate.foundation.settings import Settings


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No `.env` of the developer, no variables of theirs."""
    monkeypatch.chdir(tmp_path)
    for name in ("HEADGATE_DATA_DIR", "HEADGATE_SECRET_KEY", "HEADGATE_DATABASE__URL"):
        monkeypatch.delenv(name, raising=False)


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
