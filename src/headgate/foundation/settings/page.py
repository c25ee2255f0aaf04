"""Generates `docs/reference/settings.md` from the settings class, so that the page is always current."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from headgate.foundation.settings import Settings

INTRODUCTION = """\
<!-- Written by docs/generate.py from src/headgate/foundation/settings/. Change that file, then run `make docs`. -->

# Settings

Headgate reads its settings from environment variables, or from a file `.env` in the folder it is started in; a variable
wins over the file. Lists are written as JSON, for example `["10.0.0.0/8"]`. A wrong value stops Headgate at its start
with a message that names it. Nothing needs to be set to begin.
"""
PREFIX = "HEADGATE_"
TITLES = {"http": "HTTP requests", "single_sign_on": "Single sign-on", "log": "Logs"}
_BOUNDS = (("minimum", "at least"), ("exclusiveMinimum", "more than"), ("maximum", "at most"))


def settings_page() -> str:
    """Return the page as Markdown, one table per group of settings."""
    groups = {name: group for name, field in Settings.model_fields.items() if (group := _group(field)) is not None}
    alone = [name for name in Settings.model_fields if name not in groups]
    parts = [INTRODUCTION, _section("General", "General settings of the installation.", PREFIX, Settings, alone)]
    for name, group in groups.items():
        title = TITLES.get(name, name.capitalize())
        about = (group.__doc__ or "").strip().splitlines()[0]
        parts.append(_section(title, about, f"{PREFIX}{name.upper()}__", group, list(group.model_fields)))
    return "\n".join(parts)


def known_variables() -> set[str]:
    """Return the names of all environment variables that are settings."""
    return {name for field, value in Settings.model_fields.items() for name in _variables(f"{PREFIX}{field}", value)}


def _variables(name: str, field: FieldInfo) -> Iterator[str]:
    """Yield a field's variable, and those of its group."""
    yield name.upper()
    group = _group(field)
    for inner, value in (group.model_fields if group is not None else {}).items():
        yield from _variables(f"{name}__{inner}", value)


def _group(field: FieldInfo) -> type[BaseModel] | None:
    kind = field.annotation
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def _section(title: str, about: str, prefix: str, model: type[BaseModel], names: list[str]) -> str:
    schemas = model.model_json_schema()["properties"]
    lines = [f"## {title}", "", about, "", "| Variable | Default | Meaning |", "| --- | --- | --- |"]
    for name in names:
        field = model.model_fields[name]
        inner = _group(field)
        if inner is not None:
            lines += _section("", "", f"{prefix}{name.upper()}__", inner, list(inner.model_fields)).splitlines()[6:]
            continue
        meaning = f"{field.description or ''} {_accepted(schemas[name])}".strip().replace("|", "&#124;")
        lines.append(f"| `{prefix}{name.upper()}` | {_default(field)} | {meaning} |")
    return "\n".join([*lines, ""])


def _default(field: FieldInfo) -> str:
    """Return the default in the form used in the environment."""
    value: Any = field.get_default(call_default_factory=True)
    if value is None or value == "":
        return "empty"
    if isinstance(value, Path):
        return "the system's folder for application data"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


def _accepted(schema: dict[str, Any]) -> str:
    """Return the accepted values, as far as the type defines them."""
    schema = next((option for option in schema.get("anyOf", ()) if option.get("type") != "null"), schema)
    if "enum" in schema:
        return f"One of {', '.join(f'`{value}`' for value in schema['enum'])}."
    bounds = ", ".join(f"{label} {schema[key]:g}" for key, label in _BOUNDS if key in schema)
    return f"{bounds}.".capitalize() if bounds else ""
