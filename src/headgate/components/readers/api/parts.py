"""Parts of an operation: arguments from its parameters and body, and the schema of a successful response."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import JsonValue

from headgate.components.readers.api.description import (
    LONGEST_SUMMARY,
    Body,
    Location,
    Parameter,
    Style,
    Unusable,
    plain,
)
from headgate.components.readers.api.references import References
from headgate.graph.names import clipped, free_name

MOST_PARAMETERS: Final = 200
PLACEHOLDER: Final = re.compile(r"\{([^{}/]{1,200})\}")
_STYLES: Final[Mapping[str, Style]] = {
    "simple": "simple",
    "form": "form",
    "spaceDelimited": "space",
    "pipeDelimited": "pipe",
    "deepObject": "deep",
}
_OF_HEADGATE = frozenset({"authorization", "cookie", "content-type", "accept", "content-length", "host"})
"""Headers that the connection and the client set."""
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}")
FORM: Final = "application/x-www-form-urlencoded"
MULTIPART: Final = "multipart/form-data"
FILE_OR_TEXT: Final[Mapping[str, JsonValue]] = {
    "description": "A stored file, as steps return it, or text.",
    "anyOf": [
        {"type": "string"},
        {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
    ],
}


@dataclass
class Arguments:
    """The arguments of an operation: a JSON Schema, and where each is sent."""

    references: References
    limit: int
    """Bytes of the schema."""
    parameters: list[Parameter] = field(default_factory=list)
    properties: dict[str, JsonValue] = field(default_factory=dict)
    required: list[str] = field(default_factory=list)
    definitions: dict[str, JsonValue] = field(default_factory=dict)
    body: Body | None = None

    @property
    def schema(self) -> dict[str, JsonValue]:
        """Return the JSON Schema."""
        schema: dict[str, JsonValue] = {"type": "object", "properties": self.properties, "additionalProperties": False}
        if self.required:
            schema["required"] = list[JsonValue](self.required)
        return {**schema, "$defs": self.definitions} if self.definitions else schema

    def add_parameters(self, path: str, declared: Iterable[Any]) -> None:
        """Add the parameters of an operation and of its path. Raises `Unusable`."""
        placeholders = PLACEHOLDER.findall(path)
        for parameter in declared:
            self._add_parameter(self.references.resolved(parameter), placeholders)
        known = {parameter.name for parameter in self.parameters if parameter.location == "path"}
        for name in dict.fromkeys(placeholders):
            if name not in known:
                self._add(name, "path", "simple", {"type": "string"}, explode=False, required=True)
        if len(self.parameters) > MOST_PARAMETERS:
            raise Unusable(f"it has more than {MOST_PARAMETERS} parameters")

    def add_body(self, body: Any) -> None:  # noqa: ANN401 - any JSON value
        """Add the body. Raises `Unusable` when Headgate cannot send its media types."""
        body = self.references.resolved(body)
        content = body.get("content") if isinstance(body, Mapping) else None
        if not isinstance(content, Mapping) or not content:
            return
        media_type = media_type_of(content) or _other_media_type(content)
        required = isinstance(body, Mapping) and body.get("required") is True
        if media_type is None:
            if not required:
                return
            raise Unusable(f"its body is {clipped(', '.join(map(str, content)), 80)}, which cannot be sent")
        media = self.references.resolved(content[media_type])
        media = media if isinstance(media, Mapping) else {}
        argument = free_name("body", self.properties)
        schema, files = self._body_schema(media, media_type)
        if description := plain(body.get("description"), LONGEST_SUMMARY):
            schema.setdefault("description", description)
        self.properties[argument] = schema
        if required:
            self.required.append(argument)
        self.body = Body(argument, plain(media_type, 100).partition(";")[0], _deep(media.get("encoding")), files)

    def _body_schema(self, media: Mapping[str, Any], media_type: str) -> tuple[dict[str, JsonValue], tuple[str, ...]]:
        """Return the schema of a body, and which members are files."""
        if is_xml(media_type):
            return {"type": "string", "description": "The XML document as text."}, ()
        if media_type_of({media_type: {}}) is None:
            return dict(FILE_OR_TEXT), ("",)
        packed = self._schema(media.get("schema", {}), media_type)
        if not media_type.startswith(MULTIPART):
            return packed, ()
        form = self.references.resolved(media.get("schema", {}))
        declared = form.get("properties") if isinstance(form, Mapping) else None
        members = {name: self.references.resolved(member) for name, member in _mapping(declared).items()}
        files = tuple(name for name, member in members.items() if _is_file(member, self.references))
        if not files:
            return packed, ()
        schema = self._schema({**form, "properties": {**members, **{name: {} for name in files}}}, media_type)
        properties = _mapping(schema.get("properties"))
        several = {"anyOf": [FILE_OR_TEXT, {"type": "array", "items": FILE_OR_TEXT}]}
        return {**schema, "properties": {**properties, **dict.fromkeys(files, several)}}, files

    def _add_parameter(self, parameter: Any, placeholders: list[str]) -> None:  # noqa: ANN401
        if not isinstance(parameter, Mapping) or not isinstance(parameter.get("name"), str) or not parameter["name"]:
            raise Unusable("a parameter has no name")
        name, location = parameter["name"][:200], parameter.get("in")
        if location == "header" and name.lower() in _OF_HEADGATE:
            return
        if location not in {"path", "query", "header", "cookie"}:
            raise Unusable(f"the parameter '{clipped(name, 60)}' is in '{clipped(str(location), 20)}'")
        if location in {"header", "cookie"} and not _HEADER.fullmatch(name):
            raise Unusable(f"'{clipped(name, 60)}' is no name of a {location}")
        if location == "path" and name not in placeholders:
            return
        if any(known.name == name and known.location == location for known in self.parameters):
            return  # that of the operation replaces that of its path
        style, explode = self._style(parameter, location)
        schema = self._schema(_schema_of(parameter), "")
        if description := plain(parameter.get("description"), LONGEST_SUMMARY):
            schema["description"] = description
        required = location == "path" or parameter.get("required") is True
        self._add(name, location, style, schema, explode=explode, required=required)

    def _style(self, parameter: Mapping[str, Any], location: str) -> tuple[Style, bool]:
        if isinstance(parameter.get("content"), Mapping):
            return "json", False
        default = "form" if location in {"query", "cookie"} else "simple"
        named = str(parameter.get("style") or default)
        style = _STYLES.get(named)
        if style is None or (location != "query" and style != default):
            raise Unusable(f"the parameter '{clipped(parameter['name'], 60)}' has the style '{clipped(named, 20)}'")
        explode = parameter.get("explode")
        return style, explode if isinstance(explode, bool) else style == "form"

    def _add(
        self,
        name: str,
        location: Location,
        style: Style,
        schema: dict[str, JsonValue],
        *,
        explode: bool,
        required: bool,
    ) -> None:
        argument = name if name not in self.properties else free_name(f"{name}_{location}", self.properties)
        self.properties[argument] = schema
        if required:
            self.required.append(argument)
        self.parameters.append(Parameter(argument, name, location, style, explode))

    def _schema(self, schema: Any, media_type: str) -> dict[str, JsonValue]:  # noqa: ANN401
        """Return a schema without its `$defs`, which all arguments share."""
        packed = self.references.schema(schema, "input", limit=self.limit)
        definitions = packed.pop("$defs", {})
        self.definitions |= definitions if isinstance(definitions, dict) else {}
        return packed or ({"type": "string"} if media_type.startswith("text/") else packed)


def response_schema(references: References, responses: Any, limit: int) -> dict[str, JsonValue] | None:  # noqa: ANN401
    """Return the schema of the first successful response with JSON; None when there is none. Raises `Unusable`."""
    for _, response in successes(references, responses):
        content = response.get("content")
        media_type = media_type_of(content) if isinstance(content, Mapping) else None
        if media_type is not None and is_json(media_type) and isinstance(content, Mapping):
            media = references.resolved(content[media_type])
            schema = media.get("schema") if isinstance(media, Mapping) else None
            packed = references.schema(schema, "output", limit=limit) if schema is not None else {}
            return packed or None
    return None


def successes(references: References, responses: Any) -> list[tuple[str, Mapping[str, Any]]]:  # noqa: ANN401
    """Return the successful responses that are described, by status."""
    known = responses if isinstance(responses, Mapping) else {}
    pairs = [(str(status), references.resolved(response)) for status, response in known.items()]
    return sorted(
        (status, response) for status, response in pairs if status.startswith("2") and isinstance(response, Mapping)
    )


def media_type_of(content: Mapping[str, Any]) -> str | None:
    """Return the media type that is sent or read, of those that are described; None when Headgate has none of them."""
    kinds = (
        is_json,
        lambda kind: kind.startswith(FORM),
        lambda kind: kind.startswith(MULTIPART),
        is_xml,
        lambda kind: kind.startswith("text/"),
    )
    names = [str(name) for name in content]
    return next((name for fits in kinds for name in names if fits(name) and name in content), None)


def is_json(media_type: str) -> bool:
    """Return whether a media type is JSON."""
    kind = media_type.partition(";")[0].strip().lower()
    return kind in {"application/json", "*/*", "application/*"} or kind.endswith("+json")


def is_xml(media_type: str) -> bool:
    """Return whether a media type is XML."""
    kind = media_type.partition(";")[0].strip().lower()
    return kind in {"application/xml", "text/xml"} or kind.endswith("+xml")


def _other_media_type(content: Mapping[str, Any]) -> str | None:
    """Return the media type of a body that is one file, such as an image."""
    return next((str(name) for name in content if "/" in str(name) and "*" not in str(name)), None)


def _is_file(member: Any, references: References) -> bool:  # noqa: ANN401
    member = _mapping(member)
    if member.get("type") == "array":
        member = _mapping(references.resolved(member.get("items")))
    media = str(member.get("contentMediaType") or "")
    return member.get("format") in {"binary", "byte"} or (bool(media) and not is_json(media))


def _mapping(value: Any) -> Mapping[str, Any]:  # noqa: ANN401
    return value if isinstance(value, Mapping) else {}


def _schema_of(parameter: Mapping[str, Any]) -> Any:  # noqa: ANN401
    content = parameter.get("content")
    if isinstance(content, Mapping):
        media = next(iter(content.values()), None)
        return media.get("schema", {}) if isinstance(media, Mapping) else {}
    return parameter.get("schema", {})


def _deep(encoding: Any) -> tuple[str, ...]:  # noqa: ANN401
    known = encoding if isinstance(encoding, Mapping) else {}
    return tuple(
        str(name) for name, how in known.items() if isinstance(how, Mapping) and how.get("style") == "deepObject"
    )
