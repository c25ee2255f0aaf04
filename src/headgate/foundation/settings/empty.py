"""Empty variables: `NAME=` in the environment or in `.env` means that the setting is not set.

A setting that may be left out (`None`) is left out, every other setting keeps its default.
"""

from collections.abc import Mapping
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo
from pydantic_settings import DotEnvSettingsSource, EnvSettingsSource


class _Lenient(EnvSettingsSource):
    def decode_complex_value(self, field_name: str, field: FieldInfo, value: Any) -> Any:  # noqa: ANN401 - the base's
        """JSON; nothing is nothing, which `without_empty` reads."""
        return super().decode_complex_value(field_name, field, value) if value else ""


class Environment(_Lenient):
    """Variables of the environment."""


class DotEnv(_Lenient, DotEnvSettingsSource):
    """Variables of a `.env` file."""


def without_empty(model: type[BaseModel], given: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a group of settings, empty variables read as said above."""
    found: dict[str, Any] = {}
    for name, value in given.items():
        field = model.model_fields.get(name)
        kinds = _kinds(field.annotation) if field is not None else set()
        group = next((kind for kind in kinds if issubclass(kind, BaseModel)), None)
        if group is not None and isinstance(value, Mapping):
            found[name] = without_empty(group, value)
        elif value != "" or not kinds:
            found[name] = value
        elif type(None) in kinds:
            found[name] = None
    return found


def _kinds(annotation: Any) -> set[type]:  # noqa: ANN401 - an annotation
    """The classes that an annotation allows; a choice of texts counts by the choice."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _kinds(get_args(annotation)[0])
    if origin in {Union, UnionType}:
        return {kind for one in get_args(annotation) for kind in _kinds(one)}
    if isinstance(annotation, type):
        return {annotation}
    return {origin} if isinstance(origin, type) else {SecretStr}
