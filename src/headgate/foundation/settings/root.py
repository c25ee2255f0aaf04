"""All settings groups in one class, read from the environment."""

from pathlib import Path
from typing import Any

from pydantic import Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from headgate.foundation.settings.accounts import AccountSettings
from headgate.foundation.settings.assistant import AssistantSettings
from headgate.foundation.settings.backup import BackupSettings
from headgate.foundation.settings.classification import ClassificationSettings
from headgate.foundation.settings.codev import CodevSettings
from headgate.foundation.settings.connections import ConnectionSettings
from headgate.foundation.settings.database import DatabaseSettings
from headgate.foundation.settings.empty import DotEnv, Environment, without_empty
from headgate.foundation.settings.engine import CelerySettings, EngineSettings
from headgate.foundation.settings.http import HttpSettings
from headgate.foundation.settings.mcp import McpSettings
from headgate.foundation.settings.models import ModelSettings
from headgate.foundation.settings.outgoing import OutgoingSettings
from headgate.foundation.settings.quotas import QuotaSettings
from headgate.foundation.settings.rate_limits import RateLimitSettings
from headgate.foundation.settings.sandbox import SandboxSettings
from headgate.foundation.settings.server import ServerSettings
from headgate.foundation.settings.single_sign_on import SingleSignOnSettings
from headgate.foundation.settings.storage import LimitSettings, RetentionSettings, StorageSettings
from headgate.foundation.settings.telemetry import LogSettings, TelemetrySettings
from headgate.foundation.settings.workspace import WorkspaceSettings
from headgate.foundation.user_folders import user_data_folder


class Settings(BaseSettings):
    """All settings. Entry points read them once and pass them on."""

    model_config = SettingsConfigDict(
        env_prefix="HEADGATE_", env_nested_delimiter="__", env_file=".env", env_file_encoding="utf-8", extra="ignore"
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - replaced
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return sources that treat an empty variable as unset."""
        file = getattr(dotenv_settings, "env_file", None)
        return init_settings, Environment(settings_cls), DotEnv(settings_cls, env_file=file), file_secret_settings

    @model_validator(mode="before")
    @classmethod
    def _empty_is_unset(cls, values: Any) -> Any:  # noqa: ANN401 - whatever was read
        return without_empty(cls, values) if isinstance(values, dict) else values

    data_dir: Path = Field(
        default_factory=user_data_folder,
        description="Folder for the database, files and the secret key.",
    )
    secret_key: SecretStr | None = Field(
        default=None,
        description=(
            "Key that encrypts stored secrets (32 bytes, URL-safe base64). Empty: stored in "
            "`secret.key`, mode 0600, in the data folder."
        ),
    )
    evidence_key: SecretStr | None = Field(
        default=None,
        description=(
            "Private Ed25519 key that signs evidence (32 bytes, URL-safe base64), the same on "
            "every machine of an installation. Empty: stored in `evidence.key`, mode 0600, in the "
            "data folder."
        ),
    )
    keys_dir: Path | None = Field(
        default=None,
        description=(
            "Folder of the keys added by rotations, one file each, the same on every machine of an "
            "installation. Empty: `keys` in the data folder."
        ),
    )
    tenant: str = Field(
        default="", description="Tenant of commands, by name or id; empty: the first. A server serves all tenants."
    )
    database: DatabaseSettings = DatabaseSettings.model_construct()
    server: ServerSettings = ServerSettings.model_construct()
    accounts: AccountSettings = AccountSettings.model_construct()
    limits: LimitSettings = LimitSettings.model_construct()
    storage: StorageSettings = StorageSettings.model_construct()
    backup: BackupSettings = BackupSettings.model_construct()
    workspace: WorkspaceSettings = WorkspaceSettings.model_construct()
    engine: EngineSettings = EngineSettings.model_construct()
    celery: CelerySettings = CelerySettings.model_construct()
    retention: RetentionSettings = RetentionSettings.model_construct()
    http: HttpSettings = HttpSettings.model_construct()
    outgoing: OutgoingSettings = OutgoingSettings.model_construct()
    single_sign_on: SingleSignOnSettings = SingleSignOnSettings.model_construct()
    rate_limits: RateLimitSettings = RateLimitSettings.model_construct()
    quotas: QuotaSettings = QuotaSettings.model_construct()
    log: LogSettings = LogSettings.model_construct()
    telemetry: TelemetrySettings = TelemetrySettings.model_construct()
    sandbox: SandboxSettings = SandboxSettings.model_construct()
    mcp: McpSettings = McpSettings.model_construct()
    connections: ConnectionSettings = ConnectionSettings.model_construct()
    models: ModelSettings = ModelSettings.model_construct()
    assistant: AssistantSettings = AssistantSettings.model_construct()
    codev: CodevSettings = CodevSettings.model_construct()
    classification: ClassificationSettings = ClassificationSettings.model_construct()

    @property
    def database_url(self) -> str:
        """The effective database URL."""
        return self.database.url or f"sqlite+aiosqlite:///{self.data_dir / 'headgate.db'}"
