"""`Model.params`: what may be set on a model, checked once and translated for each provider."""

from collections.abc import Mapping
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints, ValidationError, field_validator

from headgate.features.models.errors import BadModelSettings
from headgate.features.models.providers import Provider
from headgate.graph.names import nearest
from headgate.graph.secret_reference import MODEL_KEY, SecretReference


class ModelParams(BaseModel):
    """Everything that may be set on a model. A provider takes a part of it; the rest is refused, not ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, ge=0, le=1)
    top_k: int | None = Field(default=None, ge=1)
    max_tokens: int | None = Field(default=None, ge=1)
    """Longest answer, in tokens."""
    stop: tuple[str, ...] | None = Field(default=None, max_length=8)
    seed: int | None = None
    reasoning_effort: Annotated[str, StringConstraints(pattern=r"^[a-z]{1,16}$")] | None = None
    context_window: int | None = Field(default=None, ge=256)
    """Tokens a local server keeps in view (Ollama)."""
    timeout_seconds: float | None = Field(default=None, gt=0, le=3600)
    max_retries: int | None = Field(default=None, ge=0, le=10)
    base_url: str | None = Field(default=None, max_length=2000)
    """Address of the server, for providers that have no fixed one."""
    api_key: SecretReference | None = None
    """The secret with the key, when it is not the provider's default: `Model.api_key`, never in its params."""
    tool_shim: bool | None = None
    """Whether tools use a JSON schema because the server does not support tool calls."""

    @field_validator("base_url")
    @classmethod
    def _plain_address(cls, value: str | None) -> str | None:
        if value is None:
            return None
        parts = urlsplit(value)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("must be a complete http:// or https:// URL")
        if parts.username or parts.password:
            raise ValueError("must not contain a user name or password")
        return value.rstrip("/")

    @classmethod
    def parse(
        cls, params: Mapping[str, JsonValue], *, provider: Provider, api_key: SecretReference | None = None
    ) -> Self:
        """Check the params of one model. Raises `BadModelSettings` naming the first wrong one, never its value."""
        given = {name: value for name, value in params.items() if value is not None}
        for name in given:
            _require_known(name, provider)
        if api_key is not None and provider.key is None:
            raise BadModelSettings(
                f"{provider.label} does not use a key.", remedy="Remove 'api_key'.", setting=MODEL_KEY
            )
        try:
            return cls.model_validate({**given, MODEL_KEY: api_key})
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            reason = first["msg"].removeprefix("Value error, ")
            raise BadModelSettings(
                f"The {provider.label} setting '{place}' is not valid: {reason}.",
                remedy="Correct it in the model's settings.",
                setting=place,
            ) from None  # the cause would carry the values


def accepted_params(provider: Provider) -> tuple[str, ...]:
    """Return names that a provider accepts in `Model.params`, sorted."""
    names = set(provider.params)
    if provider.flow_base_url:
        names.add("base_url")
    if provider.kind == "openai_compatible":
        names.add("tool_shim")
    return tuple(sorted(names))


def constructor_arguments(provider: Provider, params: ModelParams) -> dict[str, Any]:
    """Return sampling and call parameters under the names of the provider's class, always with a timeout."""
    values = params.model_dump(exclude_none=True, include=set(provider.params))
    if "timeout_seconds" in provider.params:
        values.setdefault("timeout_seconds", provider.timeout_seconds)
    arguments: dict[str, Any] = dict(provider.fixed)
    for name, value in values.items():
        put_argument(arguments, provider.params[name], list(value) if isinstance(value, tuple) else value)
    return arguments


def put_argument(arguments: dict[str, Any], path: str, value: object) -> None:
    """Set an argument; a dot in its name leads into a nested object."""
    *outer, last = path.split(".")
    for part in outer:
        arguments = arguments.setdefault(part, {})
    arguments[last] = value


def _require_known(name: str, provider: Provider) -> None:
    accepted = accepted_params(provider)
    if name in accepted:
        return
    if name in {"api_key", "key", "token"}:
        remedy = (
            'Keys are not stored in flows. Set a variable and refer to it in the model: "api_key": {"secret": "KEY"}.'
        )
    elif name == "base_url" and provider.base_url is not None:
        remedy = (
            "The URL belongs to the server, set in Settings, Models."
            if provider.server is not None
            else (
                f"Its key is sent to its own URL only. Set the variable {provider.base_url.variables[0]}, "
                "or use the provider 'openai_compatible'."
            )
        )
    else:
        close = nearest(name, accepted)
        remedy = f"Did you mean '{close}'? " if close else ""
        remedy += f"It takes: {', '.join(accepted)}."
    raise BadModelSettings(f"{provider.label} has no setting '{name}'.", remedy=remedy, setting=name)
