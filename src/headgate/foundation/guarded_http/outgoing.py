"""Table of all outgoing connections of Headgate: who chooses the address, the permitted range, and redirects.

`docs/reference/outgoing.md` is generated from this table, the clients read their limits from it, and
`tests/architecture/test_outgoing.py` rejects a module that opens connections and is not listed here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Network, IPv6Network

from headgate.foundation.guarded_http.addresses import Network
from headgate.foundation.settings import HttpSettings

OPERATOR_NETWORKS: tuple[Network, ...] = (
    IPv4Network("0.0.0.0/0"),
    IPv4Network("127.0.0.0/8"),
    IPv6Network("::/0"),
    IPv6Network("::1/128"),
)
"""Networks of servers that the operator configures: private and loopback, never link-local or cloud metadata.

Strict ranges are allowed only by a network inside them (see `addresses`), so of those these four allow loopback only.
"""


class Reach(StrEnum):
    """The addresses that a client may reach."""

    PUBLIC = "public"
    """Public addresses, and the networks in `HEADGATE_HTTP__ALLOWED_INTERNAL_CIDRS`."""
    OPERATOR = "operator"
    """Also private networks and loopback, since the operator chose the address; never link-local or metadata."""
    MODEL = "model"
    """`PUBLIC` when a flow or a stored variable names the server, `OPERATOR` when the environment names it."""
    OWN = "own"
    """One fixed endpoint that Headgate itself opened: a process or a socket pair."""
    SERVICE = "service"
    """Exactly the server in a setting, by a protocol without redirects and proxies."""
    IDENTITY = "identity"
    """Token and metadata services of AWS, Google and Azure; their libraries choose the address."""


class Redirects(StrEnum):
    """How redirects are handled."""

    CHECKED = "checked"
    """Followed, each one checked like the first URL."""
    REFUSED = "refused"
    """Not followed: the response is an error."""
    SAME_SERVER = "same server"
    """Followed by its library to the same host and port; others are refused."""
    NONE = "none"
    """The protocol has no redirects."""


class Part(StrEnum):
    """A process of Headgate that opens connections."""

    SERVER = "server"
    WORKER = "worker"
    """Includes beat, which starts jobs."""
    COMMAND = "command"
    """The command line, for work that it executes itself."""


EVERYWHERE = frozenset(Part)
_NO_WORKER = frozenset({Part.SERVER, Part.COMMAND})


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One kind of outgoing connection."""

    id: str
    label: str
    chosen_by: str
    reach: Reach
    redirects: Redirects
    modules: tuple[str, ...]
    """Modules that open it, relative to `headgate.`."""
    through: str = "guard"
    """The library that makes the connection."""
    opened_by: frozenset[Part] = EVERYWHERE
    """The processes that open it."""

    def limits(self, settings: HttpSettings, **changes: float) -> HttpSettings:
        """Return the settings of its client: the operator's, with the networks and redirects of this row."""
        options: dict[str, object] = dict(changes)
        if self.reach is Reach.OPERATOR:
            options["allowed_internal_cidrs"] = [*settings.allowed_internal_cidrs, *OPERATOR_NETWORKS]
        if self.redirects is not Redirects.CHECKED:
            options["max_redirects"] = 0
        return settings.model_copy(update=options)


_FLOW = "flow"
_OPERATOR = "operator"
_MAKERS = "makers"

STEPS = Outgoing(
    "steps",
    "HTTP requests of flows: `HTTPRequest`, `URL`, `http_get`, `http_post`",
    _FLOW,
    Reach.PUBLIC,
    Redirects.CHECKED,
    ("entrypoints.services",),
)
DELIVERIES = Outgoing(
    "deliveries", "Deliveries and `WebhookOut`", _FLOW, Reach.PUBLIC, Redirects.REFUSED, ("entrypoints.services",)
)
MCP = Outgoing(
    "mcp",
    "MCP servers over HTTP, and programs to their declared hosts",
    "user who registers the server",
    Reach.PUBLIC,
    Redirects.REFUSED,
    ("entrypoints.services", "features.mcptools.protocol"),
)
MCP_REGISTRY = Outgoing(
    "mcp_registry",
    "The registry of MCP servers that users search",
    _OPERATOR,
    Reach.OPERATOR,
    Redirects.REFUSED,
    ("entrypoints.services",),
)
CONNECTIONS = Outgoing(
    "connections",
    "Connections: requests of flows with a credential, tests",
    "user who adds the connection",
    Reach.PUBLIC,
    Redirects.CHECKED,
    ("entrypoints.services", "features.connections"),
)
OAUTH = Outgoing(
    "oauth",
    "OAuth providers of connections: tokens, device codes, revocation",
    "user who adds the connection",
    Reach.PUBLIC,
    Redirects.REFUSED,
    ("entrypoints.services", "features.connections.oauth"),
)
STEP_SERVERS = Outgoing(
    "step_servers",
    "Mail, database and SFTP servers of connections: `SendMail`, `ReadMail`, `SqlQuery`, `SqlWrite`, `SqlSchema`, "
    "`FolderFiles`, `WriteFile`, `MoveFile`; Redis, AMQP and Kafka servers of triggers",
    "user who adds the connection",
    Reach.PUBLIC,
    Redirects.NONE,
    (
        "components.sockets",
        "components.mail.sending",
        "components.mail.idling",
        "components.mail.reading",
        "components.redis_streams",
        "components.amqp_queues",
        "components.kafka",
        "components.sql",
        "components.storage",
    ),
    through="socket",
)
STORAGES = Outgoing(
    "storages",
    "S3, WebDAV, Google Cloud, Azure and Git servers of connections: `FolderFiles`, `WriteFile`, `MoveFile`, "
    "`GitFiles`, `GitHistory`, "
    "`CommitFiles`",
    "user who adds the connection",
    Reach.PUBLIC,
    Redirects.SAME_SERVER,
    ("components.storage", "components.git"),
    through="relay",
)
VAULT = Outgoing(
    "vault",
    "The vault and the secret stores of AWS, Google and Azure whose values connections refer to",
    _OPERATOR,
    Reach.OPERATOR,
    Redirects.REFUSED,
    ("entrypoints.services",),
)
CLOUD_IDENTITY = Outgoing(
    "cloud_identity",
    "Tokens for the secret stores of AWS, Google and Azure, once an operator configures one",
    _OPERATOR,
    Reach.IDENTITY,
    Redirects.SAME_SERVER,
    (
        "features.connections.outside.aws",
        "features.connections.outside.azure",
        "features.connections.outside.google",
    ),
    through="library of the cloud",
)
MODELS = Outgoing(
    "models",
    "Language models of flows, of the assistant and of the development agent; transcription",
    "flow, stored variable or environment",
    Reach.MODEL,
    Redirects.REFUSED,
    (
        "features.models.clients",
        "features.models.transcription",
        "features.models.providers",
        "features.models.libraries",
    ),
)
MODEL_LISTS = Outgoing(
    "model_lists",
    "The list of models of a provider",
    "stored variable or environment",
    Reach.MODEL,
    Redirects.REFUSED,
    ("features.models.listing",),
    opened_by=_NO_WORKER,
)
LOCAL_MODELS = Outgoing(
    "local_models",
    "The process of a local model",
    "Headgate",
    Reach.OWN,
    Redirects.REFUSED,
    ("features.models.local.transport", "features.models.local.models"),
    through="loopback",
)
WEIGHTS = Outgoing(
    "weights",
    "Weights of local models (Settings > Models, `headgate models pull`)",
    _MAKERS,
    Reach.PUBLIC,
    Redirects.CHECKED,
    ("features.models.local.sources",),
    opened_by=_NO_WORKER,
)
WEIGHTS_MIRROR = Outgoing(
    "weights_mirror",
    "Weights of local models from `HEADGATE_MODELS__MIRROR`",
    _OPERATOR,
    Reach.OPERATOR,
    Redirects.REFUSED,
    ("features.models.local.sources",),
    opened_by=_NO_WORKER,
)
CODEV = Outgoing(
    "codev",
    "Webhooks of the development agent",
    "user who starts the session",
    Reach.PUBLIC,
    Redirects.REFUSED,
    ("entrypoints.development.opening",),
    opened_by=_NO_WORKER,
)
FLOWISE = Outgoing(
    "flowise",
    "Flowise servers that a user names",
    "user",
    Reach.PUBLIC,
    Redirects.REFUSED,
    ("agents.codev.domains.flowise.client",),
    opened_by=_NO_WORKER,
)
FLOWISE_OPERATOR = Outgoing(
    "flowise_operator",
    "Flowise servers that the operator names",
    _OPERATOR,
    Reach.OPERATOR,
    Redirects.REFUSED,
    ("agents.codev.domains.flowise.client",),
    opened_by=_NO_WORKER,
)
SINGLE_SIGN_ON = Outgoing(
    "single_sign_on",
    "The OpenID Connect provider",
    _OPERATOR,
    Reach.OPERATOR,
    Redirects.REFUSED,
    ("features.accounts.single_sign_on.provider",),
    opened_by=_NO_WORKER,
)
TRACES = Outgoing(
    "traces",
    "The OTLP endpoint",
    _OPERATOR,
    Reach.OPERATOR,
    Redirects.REFUSED,
    ("foundation.telemetry.otel",),
)
LANGSMITH = Outgoing(
    "langsmith",
    "LangSmith, where the operator asks for its traces",
    _OPERATOR,
    Reach.OPERATOR,
    Redirects.REFUSED,
    ("agents.codev.sessions.tracing",),
    opened_by=_NO_WORKER,
)
STORAGE = Outgoing(
    "storage",
    "The S3-compatible store",
    _OPERATOR,
    Reach.OPERATOR,
    Redirects.SAME_SERVER,
    ("features.files.s3_storage",),
)
DATABASE = Outgoing(
    "database",
    "PostgreSQL",
    _OPERATOR,
    Reach.SERVICE,
    Redirects.NONE,
    (
        "foundation.database",
        "agents.codev.sessions.savers",
        "features.accounts.credentials.postgres",
        "features.runs.store.postgres_pool",
        "entrypoints.backups.postgres",
    ),
    through="psycopg",
)
REDIS = Outgoing(
    "redis",
    "Redis: queue, events, conversations, limits",
    _OPERATOR,
    Reach.SERVICE,
    Redirects.NONE,
    (
        "agents.assistant.memory.in_redis",
        "foundation.event_relay",
        "features.runs.engine.distributed",
        "entrypoints.worker",
    ),
    through="redis-py",
)
SANDBOX = Outgoing(
    "sandbox",
    "Custom code, to the hosts of its manifest that the operator opens",
    _FLOW,
    Reach.PUBLIC,
    Redirects.CHECKED,
    ("sandbox", "sdk.hosted"),
    through="broker",
)
OWN_SERVERS = Outgoing(
    "own_servers",
    "Headgate's own server, worker and embedded services on this machine: ports probed, locks held",
    "Headgate",
    Reach.OWN,
    Redirects.NONE,
    (
        "entrypoints.cli.doctor",
        "entrypoints.cli.serve",
        "entrypoints.handed_over",
        "entrypoints.port_owner",
        "entrypoints.own_services",
        "entrypoints.worker.processes",
        "features.jobs.worker",
    ),
    through="loopback",
)

OUTGOING: tuple[Outgoing, ...] = (
    STEPS,
    DELIVERIES,
    MCP,
    MCP_REGISTRY,
    CONNECTIONS,
    OAUTH,
    STEP_SERVERS,
    STORAGES,
    VAULT,
    CLOUD_IDENTITY,
    MODELS,
    MODEL_LISTS,
    LOCAL_MODELS,
    WEIGHTS,
    WEIGHTS_MIRROR,
    CODEV,
    FLOWISE,
    FLOWISE_OPERATOR,
    SINGLE_SIGN_ON,
    TRACES,
    LANGSMITH,
    STORAGE,
    DATABASE,
    REDIS,
    SANDBOX,
    OWN_SERVERS,
)
"""All outgoing connections."""


def owners_of(module: str) -> Sequence[Outgoing]:
    """Return the rows that a module (without `headgate.`) opens connections for."""
    return [
        row for row in OUTGOING if any(module == prefix or module.startswith(f"{prefix}.") for prefix in row.modules)
    ]
