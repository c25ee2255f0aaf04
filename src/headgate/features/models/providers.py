"""The model providers as data: what to install, which variables hold the key, how parameters become arguments.

Provider packages are heavy (seconds to import); nothing here imports one until `import_chat_class` is called.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from pydantic import JsonValue

from headgate.features.models.errors import ProviderNotInstalled, UnknownProvider
from headgate.features.models.setup.values import ModelServer, ServerKind
from headgate.graph.names import nearest

if TYPE_CHECKING:  # named without importing LangChain at start-up
    from langchain_core.language_models import BaseChatModel

ClientKind = Literal["httpx2", "httpx", "client_kwargs", "client_args", "anthropic", "watsonx", "own"]
"""`httpx2` and `httpx`: it takes `http_client` and `http_async_client` of that library. `client_kwargs` and
`client_args`: it takes arguments for its httpx clients under that name. `own`: Headgate's own process of a model."""
LOCAL = "local"
"""The provider whose models run inside Headgate."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A constructor argument stored as a variable: a key, an address, a project."""

    argument: str
    variables: tuple[str, ...]
    """Names to look under, best first."""
    required: bool = True
    default: str | None = None
    default_is_internal: bool = False
    """Whether the default is a server of this machine."""


@dataclass(frozen=True, slots=True)
class Provider:
    """One provider of chat models."""

    id: str
    label: str
    extra: str
    """The extra to install: `pip install 'headgate[extra]'`."""
    module: str
    class_name: str
    params: Mapping[str, str]
    """Name in `Model.params` to constructor argument; a dot leads into a nested object."""
    docs: str
    client: ClientKind
    """How its library uses the guarded transport; see `clients`."""
    key: Setting | None = None
    base_url: Setting | None = None
    settings: tuple[Setting, ...] = ()
    fixed: Mapping[str, JsonValue] = field(default_factory=dict)
    """Arguments always passed."""
    servers: tuple[str, ...] = ()
    """Its servers, where no default address names them."""
    flow_base_url: bool = False
    """Whether a flow may set the server. A provider with one address never sends its key elsewhere."""
    needs: tuple[str, ...] = ()
    """Further modules that must be installed."""
    timeout_seconds: float = 120.0
    """Default timeout."""
    ends_are_marked: bool = False
    """Whether a stream without an end mark was cut off; only set for tested protocols."""
    headers: str = ""
    """The argument for further headers, where its library takes some; a dot leads into a nested object."""
    like: str = ""
    """The provider whose protocol a named server speaks; empty for those of the table."""
    server: ModelServer | None = None
    """The user-defined server, if it is one."""

    @property
    def kind(self) -> str:
        """The provider of the table whose protocol it speaks."""
        return self.like or self.id

    @property
    def install(self) -> str:
        """The command that installs it."""
        return f"pip install 'headgate[{self.extra}]'"

    @property
    def all_settings(self) -> tuple[Setting, ...]:
        """Key, address and the rest, in the order they are looked up."""
        return tuple(setting for setting in (self.key, self.base_url, *self.settings) if setting is not None)


_SAMPLING = {"temperature": "temperature", "top_p": "top_p", "max_tokens": "max_tokens", "stop": "stop"}
_CALLING = {"timeout_seconds": "timeout", "max_retries": "max_retries"}
_OPENAI = _SAMPLING | _CALLING | {"seed": "seed", "reasoning_effort": "reasoning_effort"}

_TABLE = (
    Provider(
        id="openai",
        label="OpenAI",
        extra="openai",
        module="langchain_openai",
        class_name="ChatOpenAI",
        key=Setting("api_key", ("OPENAI_API_KEY",)),
        base_url=Setting("base_url", ("OPENAI_BASE_URL",), default="https://api.openai.com/v1"),
        settings=(Setting("organization", ("OPENAI_ORG_ID",), required=False),),
        params=_OPENAI,
        fixed={"stream_usage": True},
        ends_are_marked=True,
        client="httpx2",
        docs="https://platform.openai.com/docs/models",
    ),
    Provider(
        id="anthropic",
        label="Anthropic",
        extra="anthropic",
        module="langchain_anthropic",
        class_name="ChatAnthropic",
        key=Setting("api_key", ("ANTHROPIC_API_KEY",)),
        base_url=Setting("base_url", ("ANTHROPIC_BASE_URL",), default="https://api.anthropic.com"),
        params=_SAMPLING | _CALLING | {"top_k": "top_k", "reasoning_effort": "reasoning_effort"},
        fixed={"stream_usage": True},
        ends_are_marked=True,
        client="anthropic",
        docs="https://docs.anthropic.com/en/docs/about-claude/models",
    ),
    Provider(
        id="google",
        label="Google Gemini",
        extra="google",
        module="langchain_google_genai",
        class_name="ChatGoogleGenerativeAI",
        key=Setting("google_api_key", ("GOOGLE_API_KEY", "GEMINI_API_KEY")),
        base_url=Setting("base_url", ("GOOGLE_GEMINI_BASE_URL",), required=False),
        servers=("https://generativelanguage.googleapis.com",),
        params=_SAMPLING
        | _CALLING
        | {"max_tokens": "max_output_tokens", "top_k": "top_k", "seed": "seed", "reasoning_effort": "reasoning_effort"},
        client="client_args",
        docs="https://ai.google.dev/gemini-api/docs/models",
    ),
    Provider(
        id="groq",
        label="Groq",
        extra="groq",
        module="langchain_groq",
        class_name="ChatGroq",
        key=Setting("api_key", ("GROQ_API_KEY",)),
        base_url=Setting("base_url", ("GROQ_BASE_URL",), default="https://api.groq.com"),
        params=_SAMPLING
        | _CALLING
        | {"top_p": "model_kwargs.top_p", "seed": "model_kwargs.seed", "reasoning_effort": "reasoning_effort"},
        ends_are_marked=True,
        client="httpx",
        docs="https://console.groq.com/docs/models",
    ),
    Provider(
        id="ollama",
        label="Ollama",
        extra="ollama",
        module="langchain_ollama",
        class_name="ChatOllama",
        base_url=Setting("base_url", ("OLLAMA_BASE_URL",), default="http://localhost:11434", default_is_internal=True),
        params=_SAMPLING
        | {
            "max_tokens": "num_predict",
            "top_k": "top_k",
            "seed": "seed",
            "context_window": "num_ctx",
            "timeout_seconds": "client_kwargs.timeout",
        },
        flow_base_url=True,
        headers="client_kwargs.headers",
        client="client_kwargs",
        docs="https://ollama.com/library",
    ),
    Provider(
        id="watsonx",
        label="IBM watsonx.ai",
        extra="watsonx",
        module="langchain_ibm",
        class_name="ChatWatsonx",
        key=Setting("api_key", ("WATSONX_API_KEY", "WATSONX_APIKEY")),
        base_url=Setting("url", ("WATSONX_URL",)),
        settings=(
            Setting("project_id", ("WATSONX_PROJECT_ID",)),
            Setting("username", ("WATSONX_USERNAME",), required=False),  # outside IBM's cloud
        ),
        params=_SAMPLING | {"seed": "seed", "reasoning_effort": "reasoning_effort"},
        client="watsonx",
        docs="https://www.ibm.com/products/watsonx-ai/foundation-models",
    ),
    Provider(
        id="openai_compatible",
        label="OpenAI-compatible server",
        extra="openai",
        module="langchain_openai",
        class_name="ChatOpenAI",
        key=Setting("api_key", ("OPENAI_COMPATIBLE_API_KEY",), required=False, default="not-needed"),
        base_url=Setting("base_url", ("OPENAI_COMPATIBLE_BASE_URL",)),
        # OpenAI renamed `max_tokens`; compatible servers use the old name.
        params=_OPENAI | {"max_tokens": "extra_body.max_tokens"},
        fixed={"stream_usage": True, "use_responses_api": False},
        ends_are_marked=True,
        client="httpx2",
        flow_base_url=True,
        headers="default_headers",
        docs="https://platform.openai.com/docs/api-reference/chat",
    ),
    Provider(
        id=LOCAL,
        label="Local model",
        extra="local",
        module="langchain_openai",
        class_name="ChatOpenAI",
        params=_OPENAI | {"top_k": "extra_body.top_k", "max_tokens": "extra_body.max_tokens"},
        # Processing a long prompt on one core takes minutes, in which nothing is sent.
        fixed={"stream_usage": True, "use_responses_api": False, "max_retries": 0, "stream_chunk_timeout": 0},
        timeout_seconds=900.0,
        needs=("xllamacpp",),
        ends_are_marked=True,
        client="own",
        docs="https://github.com/xorbitsai/xllamacpp",
    ),
)

PROVIDERS: Mapping[str, Provider] = MappingProxyType({provider.id: provider for provider in _TABLE})
"""Every provider by id, the order in which a default is looked for."""

PROVIDER_VARIABLES: Mapping[str, str] = MappingProxyType(
    {name: provider.id for provider in _TABLE for setting in provider.all_settings for name in setting.variables}
)
"""Variable name to the provider it belongs to."""

ADDRESS_VARIABLES = frozenset(
    name for provider in _TABLE if provider.base_url is not None for name in provider.base_url.variables
)
"""Variables that hold the address of a provider's server. Checks read them: it decides which keys belong there."""


_OF_KIND: Mapping[ServerKind, str] = {"openai": "openai_compatible", "ollama": "ollama"}


def known_provider(provider_id: str) -> Provider | None:
    """Return the provider of the table of that id, written in any case."""
    return PROVIDERS.get(provider_id.strip().lower().replace("-", "_"))


def of_server(server: ModelServer) -> Provider:
    """Return a named server as a provider: its protocol's, with its own name and address."""
    like = PROVIDERS[_OF_KIND[server.kind]]
    base_url = Setting("base_url", (), default=server.address)
    return replace(
        like,
        id=server.name,
        like=like.id,
        label=server.name,
        server=server,
        key=None if like.key is None else replace(like.key, variables=()),
        base_url=base_url,
        flow_base_url=False,
    )


def find_provider(provider_id: str, servers: Mapping[str, ModelServer] = MappingProxyType({})) -> Provider:
    """Return the provider of that id, written in any case, or the server of that name.

    Raises `UnknownProvider` naming the nearest.
    """
    provider = known_provider(provider_id)
    if provider is not None:
        return provider
    server = servers.get(provider_id.strip().lower())
    if server is not None:
        return of_server(server)
    if provider_id.strip().lower() in {"", "unknown"}:
        raise UnknownProvider(
            "The selected model is missing a provider.",
            remedy="Please reselect a model in the model field of the step: it is written `provider/name`.",
        )
    names = (*PROVIDERS, *servers)
    close = nearest(provider_id, names)
    hint = f"Did you mean '{close}'? " if close else ""
    raise UnknownProvider(
        f"There is no model provider or model server '{provider_id}'.",
        remedy=f"{hint}Providers: {', '.join(names)}. Add a server in Settings, Models, or with "
        "`headgate models servers add`.",
        nearest=close,
    )


FOR_EVERY_MODEL = ("langchain", "langgraph")
"""Modules of the extra `models`, which the extra of each provider includes."""


def is_installed(provider: Provider) -> bool:
    """Return whether its packages are there, found without importing them."""
    modules = (provider.module, *provider.needs)
    if any(find_spec(module) is None for module in modules):
        return False
    return all(PathFinder.find_spec(module) is not None for module in FOR_EVERY_MODEL)


def import_chat_class(provider: Provider) -> "type[BaseChatModel]":
    """Import the provider's LangChain class: the one place where a provider package is loaded (up to seconds).

    Raises `ProviderNotInstalled` naming the extra.
    """
    if not is_installed(provider):
        raise ProviderNotInstalled(
            f"{provider.label} requires a package that is not installed.",
            remedy=f"Install it with: {provider.install}",
            extra_name=provider.extra,
        )
    try:
        loaded: type[BaseChatModel] = getattr(import_module(provider.module), provider.class_name)
    except ImportError as error:
        raise ProviderNotInstalled(
            f"The package of {provider.label} is installed but cannot be loaded: {error}.",
            remedy=f"Reinstall it with: {provider.install}",
            extra_name=provider.extra,
        ) from error
    return loaded
