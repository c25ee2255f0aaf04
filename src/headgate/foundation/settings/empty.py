"""Empty variables: `NAME=` in the environment or in `.env` means that the setting is not set.

An optional setting becomes `None`; every other setting keeps its default.
"""

from collections.abc import Mapping
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo
from pydantic_settings import DotEnvSettingsSource, EnvSettingsSource


class _Lenient(EnvSettingsSource):
    def decode_complex_value(self, field_name: str, field: FieldInfo, value: Any) -> Any:  # noqa: ANN401 - the base's
        """Return the decoded JSON; an empty variable stays an empty string, for `without_empty`."""
        return super().decode_complex_value(field_name, field, value) if value else ""


class Environment(_Lenient):
    """Environment variables."""


class DotEnv(_Lenient, DotEnvSettingsSource):
    """Variables of a `.env` file."""


def without_empty(model: type[BaseModel], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a settings model without empty variables, including nested groups."""
    result: dict[str, Any] = {}
    for name, value in values.items():
        field = model.model_fields.get(name)
        kinds = _kinds(field.annotation) if field is not None else set()
        group = next((kind for kind in kinds if issubclass(kind, BaseModel)), None)
        if group is not None and isinstance(value, Mapping):
            result[name] = without_empty(group, value)
        elif value != "" or not kinds:
            result[name] = value
        elif type(None) in kinds:
            result[name] = None
    return result


def _kinds(annotation: Any) -> set[type]:  # noqa: ANN401 - an annotation
    """Return the classes that an annotation allows; for `Literal` and generics, their origin."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _kinds(get_args(annotation)[0])
    if origin in {Union, UnionType}:
        return {kind for member in get_args(annotation) for kind in _kinds(member)}
    if isinstance(annotation, type):
        return {annotation}
    return {origin} if isinstance(origin, type) else {SecretStr}
