"""Every setting of Headgate, in one class. `docs/settings.md` is generated from it.

Read from the environment with the prefix `HEADGATE_` and `__` between group and name, for example
`HEADGATE_DATABASE__URL` or `HEADGATE_SERVER__PORT`; or from a `.env` file in the working directory.
"""

import re
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Literal, Self

from platformdirs import user_data_path
from pydantic import BaseModel, BeforeValidator, Field, SecretStr, StringConstraints, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from headgate.foundation.assistant_settings import AssistantSettings
from headgate.foundation.classification_settings import ClassificationSettings
from headgate.foundation.codev_settings import CodevSettings
from headgate.foundation.rate_limit_settings import RateLimitSettings
from headgate.foundation.single_sign_on_settings import SingleSignOnSettings
from headgate.foundation.workspace_settings import WorkspaceSettings

MEBIBYTE = 1024 * 1024


class DatabaseSettings(BaseModel):
    """Where flows, versions and runs are kept."""

    url: str = Field(
        default="",
        description="SQLAlchemy URL: `sqlite+aiosqlite:///path` or `postgresql+psycopg://user:password@host/name`. "
        "Empty: a SQLite file `headgate.db` in the data folder.",
    )
    pool_size: int = Field(default=5, ge=1, le=200, description="Connections kept for the API, and as many for runs.")
    synchronous: Literal["NORMAL", "FULL"] = Field(
        default="NORMAL",
        description="SQLite only. NORMAL survives a killed process; FULL also a power cut, and is slower.",
    )
    busy_timeout_seconds: float = Field(default=5.0, ge=0, description="SQLite only: how long to wait for a lock.")


HostName = Annotated[
    str, StringConstraints(pattern=r"^(?:[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*|[0-9A-Fa-f:.]+)$", to_lower=True)
]
"""A name or address as it stands in a URL, without brackets and port."""
Origin = Annotated[str, StringConstraints(pattern=r"^https?://[^/?#@*\s]+$", to_lower=True)]
"""Scheme, name and port of a site, as browsers send it."""


def _network(value: object) -> object:
    """One message in place of one for each version of the protocol."""
    try:
        return ip_network(value) if isinstance(value, str) else value
    except ValueError:
        raise ValueError("one is no address or network; write it such as 10.20.0.0/24 or fd00::/8") from None


Network = Annotated[IPv4Network | IPv6Network, BeforeValidator(_network)]
"""An address, or a network with its mask."""


class ServerSettings(BaseModel):
    """The HTTP server."""

    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: int = Field(default=7411, ge=0, le=65535, description="Port to listen on; 0 picks a free one.")
    auto_login: bool = Field(default=True, description="One local user, no sign-in. Only served on loopback addresses.")
    insecure: bool = Field(default=False, description="Allow auto-login on other addresses. Anyone there is the user.")
    public_url: str = Field(
        default="",
        description="Address that people open, such as `https://headgate.example.org`. Needed where people sign in and "
        "the server listens on more than loopback: cookies, links and single sign-on go by it.",
    )
    allowed_hosts: list[HostName] = Field(
        default_factory=list,
        description="Further names the server is called by, as a JSON list, without ports. It answers to no others: a "
        "web page cannot point its own name here. The name in `PUBLIC_URL` and this machine's own need not be listed.",
    )
    cors_origins: list[Origin] = Field(
        default_factory=list,
        description='Sites whose pages may call the API, as a JSON list such as `["https://intranet.example.org"]`. '
        "They need an API key: cookies are not taken from there.",
    )
    trusted_proxies: list[Network] = Field(
        default_factory=list,
        description="Addresses or networks of reverse proxies, as a JSON list. Only from these are `X-Forwarded-For` "
        "and `X-Forwarded-Proto` believed.",
    )
    metrics_token: SecretStr | None = Field(
        default=None,
        min_length=16,
        description="Bearer token for `/metrics`, and for the details of `/health/ready`. Empty: figures are shown "
        "with auto-login only.",
    )
    max_body_bytes: int = Field(default=4 * MEBIBYTE, ge=1024, description="Largest request body, uploads excepted.")
    max_upload_bytes: int = Field(default=64 * MEBIBYTE, ge=1024, description="Largest uploaded file.")
    read_seconds: float = Field(
        default=30.0, gt=0, description="How long a client may take for its headers, and between two parts of its body."
    )
    keep_alive_seconds: int = Field(
        default=75,
        ge=1,
        description="How long a connection may rest between two requests. Keep it above what a reverse proxy allows "
        "(nginx: 60): one that sends as the server closes gets no answer.",
    )

    @field_validator("public_url")
    @classmethod
    def _is_an_origin(cls, url: str) -> str:
        if url and not re.fullmatch(r"https?://[^/?#@\s]+", url):
            raise ValueError(
                "say scheme and name only, such as https://headgate.example.org; Headgate has a name of its own, "
                "and no path below another's"
            )
        return url

    @field_validator("trusted_proxies")
    @classmethod
    def _somebody_is_not_trusted(cls, networks: list[Network]) -> list[Network]:
        if any(network.prefixlen == 0 for network in networks):
            raise ValueError("a network of every address trusts everybody; list the proxies' own addresses")
        return networks


class AccountSettings(BaseModel):
    """People who sign in."""

    session_hours: float = Field(default=168.0, gt=0, le=8760, description="Longest time between two sign-ins.")
    idle_hours: float = Field(
        default=24.0, gt=0, le=8760, description="How long nothing may be asked before one has to sign in again."
    )
    link_hours: float = Field(
        default=72.0, gt=0, le=8760, description="How long a link to set a password can be used, once."
    )


class LimitSettings(BaseModel):
    """Caps on what a step may keep in the database."""

    max_inline_text_bytes: int = Field(default=MEBIBYTE, ge=256, description="Longer text becomes an artifact.")
    max_inline_json_bytes: int = Field(default=MEBIBYTE, ge=256, description="Larger JSON becomes an artifact.")
    max_inline_preview_bytes: int = Field(default=16_384, ge=64, description="Length of the preview of an artifact.")
    max_artifact_bytes: int = Field(default=64 * MEBIBYTE, ge=1024, description="Largest artifact a step may make.")


class StorageSettings(BaseModel):
    """Where the contents of files are kept: uploads, and artifacts of runs."""

    kind: Literal["local", "s3"] = Field(
        default="local",
        description="`local`: the folder `files` in the data folder. `s3`: a bucket; needs the extra `s3`.",
    )
    max_tenant_bytes: int | None = Field(
        default=None, ge=0, description="Most bytes of a tenant's files before uploads are refused. Empty: no limit."
    )
    bucket: str = Field(default="", description="S3 only: the bucket. It must exist.")
    prefix: str = Field(default="", description="S3 only: put before every key, such as `headgate/production`.")
    region: str = Field(default="us-east-1", description="S3 only: the bucket's region.")
    endpoint_url: str = Field(
        default="", description="S3 only: address of a compatible store, such as `https://minio.example.org:9000`."
    )
    path_style: bool = Field(
        default=True, description="S3 only: name the bucket in the path, as most compatible stores want."
    )
    access_key_id: SecretStr | None = Field(
        default=None, description="S3 only. Empty: AWS's own variables, or the role of the machine."
    )
    secret_access_key: SecretStr | None = Field(default=None, description="S3 only: the key's secret.")

    @model_validator(mode="after")
    def _bucket_is_named(self) -> Self:
        if self.kind == "s3" and not self.bucket:
            raise ValueError("storage kind s3 needs a bucket")
        return self


class EngineSettings(BaseModel):
    """How runs are carried out."""

    backend: Literal["embedded", "celery"] = Field(
        default="embedded",
        description="`embedded`: inside the server. `celery`: by worker processes, with PostgreSQL and Redis; needs "
        "the extra `distributed`.",
    )
    max_concurrent_runs: int = Field(default=32, ge=1, description="Runs that make progress at once.")
    max_concurrent_steps: int = Field(default=8, ge=1, description="Steps of one run that work at once.")
    lease_seconds: float = Field(
        default=8.0,
        gt=0,
        description="How long a claimed step is left to a worker that is not heard of. It renews its claims three "
        "times as often.",
    )
    step_timeout_seconds: float = Field(default=600.0, gt=0, description="Longest time a step may work.")
    run_timeout_seconds: float | None = Field(
        default=86_400.0,
        gt=0,
        description="Longest time a run may be running; then it fails with `run_stale`. It can "
        "be resumed. `null`: no limit.",
    )
    recover_on_start: bool = Field(default=True, description="Take up queued and running runs when the server starts.")


class CelerySettings(BaseModel):
    """Worker processes, for the engine `celery`. Each of the three Redis databases holds nothing else."""

    broker_url: str = Field(default="redis://127.0.0.1:6379/0", description="Redis database of the queues.")
    result_url: str = Field(default="redis://127.0.0.1:6379/1", description="Redis database of task results.")
    events_url: str = Field(default="redis://127.0.0.1:6379/2", description="Redis database of live events.")
    queue: str = Field(
        default="headgate",
        pattern=r"^[A-Za-z0-9_-]{1,60}$",
        description="Name that the queues of this installation begin with.",
    )
    concurrency: int = Field(default=4, ge=1, le=256, description="Child processes of one worker; one task each.")
    visibility_timeout_seconds: int = Field(
        default=21_600,
        ge=60,
        description="After how long Redis gives an unfinished message out again. Above the longest task; recovery does "
        "not wait for it.",
    )
    sweep_seconds: float = Field(default=2.0, gt=0, description="How often beat looks for runs that were left.")
    redispatch_seconds: float = Field(
        default=5.0, gt=0, description="How long a message may be missing before it counts as lost."
    )
    most_dispatches: int = Field(
        default=20, ge=1, description="How often a run that never begins is handed out before it fails."
    )
    result_expires_seconds: int = Field(default=3_600, ge=60, description="How long task results are kept.")
    events_expire_seconds: int = Field(default=3_600, ge=60, description="How long the live events of a run are kept.")
    shutdown_seconds: float = Field(
        default=10.0, ge=0, description="How long a stopping worker lets its tasks go on; the rest is recovered."
    )
    max_memory_per_child_mb: int = Field(
        default=1024, ge=64, description="A child that uses more is replaced after its task."
    )


class RetentionSettings(BaseModel):
    """How long runs are kept, and what is tidied up."""

    run_days: int | None = Field(
        default=None,
        ge=1,
        description="Days after which a finished run is deleted with what it made, where its flow's own setting "
        "`data_retention_days` does not say. Empty: runs are kept.",
    )
    session_days: int | None = Field(
        default=90,
        ge=1,
        description="Days after which a session of the development agent that is over is deleted with its checkpoints "
        "and with how its flow was before, so it cannot be taken back any more. What it wrote stays. Empty: kept.",
    )
    waiting_session_days: int | None = Field(
        default=365,
        ge=1,
        description="The same for a session that waits for an answer, since it began to. Empty: kept.",
    )
    orphan_grace_minutes: int = Field(
        default=60, ge=1, description="Age at which an artifact that no result names counts as left behind."
    )
    every_minutes: float = Field(
        default=60.0, gt=0, description="How often retention, the sweep and the other jobs are due."
    )


class HttpSettings(BaseModel):
    """Requests that flows make to the web."""

    allowed_internal_cidrs: list[Network] = Field(
        default_factory=list,
        description="Private networks that flows may reach, as a JSON list. Loopback and link-local stay blocked "
        "unless listed here too.",
    )
    max_response_bytes: int = Field(default=MEBIBYTE, ge=1024, description="Largest answer that is read.")
    timeout_seconds: float = Field(default=30.0, gt=0, description="Longest time for one request.")
    max_redirects: int = Field(default=5, ge=0, le=20, description="Redirects followed, each checked again.")


class LogSettings(BaseModel):
    """Structured logs on standard error."""

    level: Literal["debug", "info", "warning", "error", "critical"] = Field(
        default="info", description="Least level written."
    )
    format: Literal["console", "json"] = Field(default="console", description="For people or for machines.")


class TelemetrySettings(BaseModel):
    """Figures and traces."""

    metrics: bool = Field(default=True, description="Serve figures for Prometheus at `/metrics`.")
    worker_metrics_port: int = Field(
        default=0,
        ge=0,
        le=65535,
        description="Port on which a worker serves its own figures, on the address of the server; 0: none.",
    )
    otlp_endpoint: str = Field(
        default="",
        description="Address of an OpenTelemetry collector that takes OTLP over HTTP, such as `http://127.0.0.1:4318`. "
        "Empty: nothing is traced. Needs the extra `otel`.",
    )
    service_name: str = Field(default="headgate", description="Name of this installation in traces.")
    sample_ratio: float = Field(default=1.0, ge=0, le=1, description="Share of traces that are sent.")


OwnCodeHost = Annotated[
    str,
    StringConstraints(pattern=r"^(?:\*|(?:\*\.)?[\w-]+(?:\.[\w-]+)*|\[[0-9A-Fa-f:.]+\])(?::(?:\*|[0-9]{1,5}))?$"),
]
"""A host with or without port, as `sandbox/hosts.py` reads it."""


class SandboxSettings(BaseModel):
    """Code that came with a flow."""

    insecure: bool = Field(
        default=False,
        description="Run such code in a plain separate process where the system lacks Landlock or seccomp. "
        "Off: it is refused there.",
    )
    memory_mb: int = Field(default=512, ge=64, description="Memory one piece of code may use.")
    timeout_seconds: float = Field(default=10.0, gt=0, description="Longest time one call may take.")
    hosts: list[OwnCodeHost] = Field(
        default_factory=list,
        description="Hosts that own components may connect to where their manifest names them, as a JSON list such as "
        '`["api.example.org", "*.example.net", "db.example.org:5432"]`; `*` for all. Ports 80 and 443 unless one is '
        "named, `:*` for any. Addresses are checked as those of `HEADGATE_HTTP__ALLOWED_INTERNAL_CIDRS`. Empty: own "
        "code has no network.",
    )


class McpSettings(BaseModel):
    """Tools of MCP servers."""

    allow_stdio: bool = Field(
        default=False,
        description="Whether a space may register programs of this machine as MCP servers. Whoever may use the API can "
        "then start any program as the server's user.",
    )
    connect_seconds: float = Field(default=20.0, gt=0, le=300, description="Longest time to reach a server.")
    timeout_seconds: float = Field(default=60.0, gt=0, le=3600, description="Longest time one tool call may take.")
    max_tools: int = Field(default=200, ge=1, le=2000, description="Tools kept of one server.")
    max_result_bytes: int = Field(default=MEBIBYTE, ge=1024, description="Largest result of a tool call.")


class ModelSettings(BaseModel):
    """Models used when a flow or request names none."""

    default: str = Field(default="", description="`provider/name` to use. Empty: the first configured one.")
    assistant: str = Field(
        default="", description="Model of the assistant; `offline` for the offline builder. Empty: the default model."
    )


class Settings(BaseSettings):
    """All settings. Entry points read them once and pass them in."""

    model_config = SettingsConfigDict(
        env_prefix="HEADGATE_", env_nested_delimiter="__", env_file=".env", env_file_encoding="utf-8", extra="ignore"
    )

    data_dir: Path = Field(
        default_factory=lambda: user_data_path("headgate", appauthor=False),
        description="Folder for the database, files and the secret key.",
    )
    secret_key: SecretStr | None = Field(
        default=None,
        description="Key that encrypts stored secrets (32 bytes, URL-safe base64). Empty: kept in `secret.key`, mode "
        "0600, in the data folder.",
    )
    evidence_key: SecretStr | None = Field(
        default=None,
        description="Private Ed25519 key that signs evidence (32 bytes, URL-safe base64), the same on every machine "
        "of an installation. Empty: kept in `evidence.key`, mode 0600, in the data folder.",
    )
    tenant: str = Field(
        default="", description="Tenant that commands work in, by name or id; empty: the first. A server serves all."
    )
    database: DatabaseSettings = DatabaseSettings()
    server: ServerSettings = ServerSettings()
    accounts: AccountSettings = AccountSettings()
    limits: LimitSettings = LimitSettings()
    storage: StorageSettings = StorageSettings()
    workspace: WorkspaceSettings = WorkspaceSettings()
    engine: EngineSettings = EngineSettings()
    celery: CelerySettings = CelerySettings()
    retention: RetentionSettings = RetentionSettings()
    http: HttpSettings = HttpSettings()
    single_sign_on: SingleSignOnSettings = SingleSignOnSettings()
    rate_limits: RateLimitSettings = RateLimitSettings()
    log: LogSettings = LogSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    sandbox: SandboxSettings = SandboxSettings()
    mcp: McpSettings = McpSettings()
    models: ModelSettings = ModelSettings()
    assistant: AssistantSettings = AssistantSettings()
    codev: CodevSettings = CodevSettings()
    classification: ClassificationSettings = ClassificationSettings()

    @property
    def database_url(self) -> str:
        """The URL in force."""
        return self.database.url or f"sqlite+aiosqlite:///{self.data_dir / 'headgate.db'}"
