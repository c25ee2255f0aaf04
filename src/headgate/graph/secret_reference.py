"""References to secrets: a flow names a value without containing it.

In a saved flow a reference is an object, `{"secret": "CRM_TOKEN"}`; `{"secret": "CRM_TOKEN", "scheme": "Bearer"}` puts
the scheme of an `Authorization` header before the value. It may be the value of a secret field, a header, and the
`api_key` of a model; everywhere else such an object is data.

At run time a reference is a `SecretReference`, and only `typed_params` and the saved `HttpCall` create one, from the
saved flow, before any `{{...}}` is resolved. Pydantic does not create one from an object, so input from a visitor, a
model, a file or an earlier step can never become a reference.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import BeforeValidator, GetCoreSchemaHandler, GetJsonSchemaHandler, JsonValue
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import PydanticCustomError, core_schema

from headgate.graph.connection_reference import connections_of

if TYPE_CHECKING:  # `template` imports what `model` imports, and `model` imports this module
    from headgate.graph.template import FieldTemplate, Template

NAME_PATTERN = r"[A-Za-z_][A-Za-z0-9_]{0,127}"
SCHEME_PATTERN = r"[A-Za-z][A-Za-z0-9-]{0,19}"
EXAMPLE = '{"secret": "MY_TOKEN"}'
EXPECTED = f"a secret such as {EXAMPLE}"
MODEL_KEY = "api_key"
"""Member of a model that names its key."""
MODEL_FALLBACK = "fallback"
"""Member of a model that lists the models asked when it cannot answer."""
MOST_FALLBACKS = 5
"""Fallback models of one model."""
_NAME = re.compile(NAME_PATTERN, re.ASCII)
_SCHEME = re.compile(SCHEME_PATTERN, re.ASCII)


@dataclass(frozen=True, slots=True)
class SecretReference:
    """The name of a secret in a saved flow, and the scheme before its value."""

    name: str
    scheme: str = ""

    @classmethod
    def parse(cls, value: object) -> Self:
        """Return the reference of a saved value. Raises `ValueError` with the expected form."""
        if not isinstance(value, Mapping) or not {"secret"} <= set(value) <= {"secret", "scheme"}:
            raise ValueError(f"should be {EXPECTED}")
        name, scheme = value["secret"], value.get("scheme") or ""
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ValueError(
                "the name of a secret may have letters, digits and underscores, and must not start with a digit"
            )
        if not isinstance(scheme, str) or (scheme and not _SCHEME.fullmatch(scheme)):
            raise ValueError('the scheme is one word, such as "Bearer"')
        return cls(name, scheme)

    def filled(self, value: str) -> str:
        """Return the secret's value in the form in which it is sent."""
        return f"{self.scheme} {value}" if self.scheme else value

    def as_json(self) -> dict[str, JsonValue]:
        """Return the form in which a flow is saved."""
        return {"secret": self.name, "scheme": self.scheme} if self.scheme else {"secret": self.name}

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: object, _handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """Accept instances only: an object that looks like a reference is data."""
        return core_schema.no_info_plain_validator_function(
            _instance, serialization=core_schema.plain_serializer_function_ser_schema(_serialized)
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, _schema: core_schema.CoreSchema, _handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """The saved form."""
        return {
            "type": "object",
            "title": "SecretReference",
            "description": "The name of a secret, in place of its value.",
            "properties": {
                "secret": {"type": "string", "pattern": f"^{NAME_PATTERN}$"},
                "scheme": {"type": "string", "pattern": f"^{SCHEME_PATTERN}$"},
            },
            "required": ["secret"],
            "additionalProperties": False,
        }


def _instance(value: object) -> SecretReference:
    if isinstance(value, SecretReference):
        return value
    raise PydanticCustomError("secret_reference", "a secret is named in the saved flow; its value is never accepted")


def _serialized(value: SecretReference) -> dict[str, JsonValue]:
    return value.as_json()


def _parsed(value: object) -> object:
    return SecretReference.parse(value) if isinstance(value, Mapping) else value


SavedSecret = Annotated[SecretReference, BeforeValidator(_parsed)]
"""A reference as a member of a saved model: the model is never created from the data of a run."""


def is_reference(value: object) -> bool:
    """Return whether a saved value is a well-formed reference."""
    try:
        SecretReference.parse(value)
    except ValueError:
        return False
    return True


def typed_params(params: Mapping[str, JsonValue], template: "Template") -> dict[str, Any]:
    """Return a node's saved params with references to secrets and connections; no `{{...}}` is resolved yet."""
    typed: dict[str, Any] = {**params, **dict(connections_of(params, template))}
    for field in template.fields:
        if field.carries_secret and field.name in typed:
            typed[field.name] = _typed(typed[field.name], field)
    return typed


def references_of(params: Mapping[str, JsonValue], template: "Template") -> Iterator[SecretReference]:
    """Yield the secrets in a node's secret fields and headers. The keys of models have separate rules."""
    for name, value in typed_params(params, template).items():
        field = template.field(name)
        if isinstance(value, SecretReference):
            yield value
        elif field is not None and field.secret_values and isinstance(value, dict):
            yield from (reference for reference in value.values() if isinstance(reference, SecretReference))


def _typed(value: Any, field: "FieldTemplate") -> Any:  # noqa: ANN401 - any JSON value
    if field.is_secret:
        return SecretReference.parse(value) if is_reference(value) else value
    if not isinstance(value, Mapping):
        return value
    names = value if field.secret_values else (MODEL_KEY,)
    typed: dict[str, Any] = {
        name: SecretReference.parse(value[name]) for name in names if is_reference(value.get(name))
    }
    fallback = None if field.secret_values else value.get(MODEL_FALLBACK)
    if isinstance(fallback, list):
        typed[MODEL_FALLBACK] = [_typed(model, field) for model in fallback]
    return {**value, **typed}
