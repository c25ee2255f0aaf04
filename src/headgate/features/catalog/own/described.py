"""Parses the sandbox's description of a component. It is untrusted, since custom code ran there."""

import ast
import re
from collections.abc import Iterator

import orjson
from pydantic import JsonValue, ValidationError

from headgate.foundation.errors import Invalid
from headgate.foundation.names import HIDDEN
from headgate.graph.json_values import plain_json
from headgate.graph.manifest import Manifest
from headgate.graph.model import PORT_PATTERN, TYPE_PATTERN
from headgate.graph.ports import CONFIGURATION_TYPES
from headgate.graph.template import Template

MOST_FIELDS = 60
MOST_OUTPUTS = 30
MOST_BYTES = 200_000
"""Maximum size of the template as JSON."""
LONGEST_NAME = 200
"""Maximum characters of labels, options and similar."""
LONGEST_TEXT = 8_000
"""Maximum characters of descriptions: users and models read them."""
_NAME = re.compile(PORT_PATTERN)
_TYPE = re.compile(TYPE_PATTERN)


class NotPlausible(Invalid):
    """The description is not a template of this code."""

    code = "not_plausible"
    title = "Invalid component description"


def read_description(described: JsonValue, code: str, manifest: Manifest) -> Template:
    """Return the template, with facts from static analysis: whether it sends data out, and reads the run's input.

    Raises `NotPlausible`.
    """
    if not isinstance(described, dict) or len(orjson.dumps(described)) > MOST_BYTES:
        raise NotPlausible("The description of the component is too long.", remedy="Shorten its texts.")
    try:
        template = Template.model_validate(described.get("template"))
    except ValidationError as error:
        raise NotPlausible("The description of the component is not valid.", remedy="Correct its fields.") from error
    tree = ast.parse(code)
    if template.type not in {node.name for node in tree.body if isinstance(node, ast.ClassDef)}:
        raise NotPlausible(
            f"The code defines no class '{template.type}' at module level.", remedy="Define the class there."
        )
    _require_names(template)
    _require_texts(template)
    names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    reads = template.reads_input or "input" in names
    sends = template.outside or bool(manifest.hosts)
    return template.model_copy(
        update={"model_using": False, "annotation": False, "outside": sends, "reads_input": reads}
    )


def _require_names(template: Template) -> None:
    if not _TYPE.fullmatch(template.type):
        raise NotPlausible(
            f"'{template.type}' is not a valid component name.",
            remedy="Start with a capital letter and use at most 64 letters and digits.",
        )
    if len(template.fields) > MOST_FIELDS or len(template.outputs) > MOST_OUTPUTS:
        raise NotPlausible(
            f"{template.type} has more than {MOST_FIELDS} fields or {MOST_OUTPUTS} outputs.",
            remedy=("Split it into two components."),
        )
    fields, outputs = [field.name for field in template.fields], [field.name for field in template.outputs]
    invalid = next((name for name in (*fields, *outputs) if not _NAME.fullmatch(name)), None)
    if invalid is not None:
        raise NotPlausible(
            f"'{invalid[:80]}' is not a valid name of a field or output.",
            remedy="Use at most 64 lower-case letters, digits and underscores, starting with a letter.",
        )
    if len(set(fields)) < len(fields) or len(set(outputs)) < len(outputs):
        raise NotPlausible(f"{template.type} has two fields or outputs with the same name.", remedy="Rename one.")
    configures = {output.type for output in template.outputs} & CONFIGURATION_TYPES
    if configures or not template.outputs or any(field.takes_configuration for field in template.fields):
        raise NotPlausible(f"{template.type} cannot be a custom component.", remedy="See its documentation.")


def _require_texts(template: Template) -> None:
    """Raise `NotPlausible` for a text that is too long, or contains invisible characters."""
    for kind, text in _texts(template):
        limit = LONGEST_TEXT if kind in {"description", "help"} else LONGEST_NAME
        if len(text) > limit:
            raise NotPlausible(
                f"{template.type}: a {kind} has {len(text)} characters; at most {limit} are allowed.",
                remedy="Shorten it.",
            )
    values = template.model_dump(mode="json")
    try:
        plain_json(values)
    except ValueError as error:
        raise NotPlausible(f"{template.type}: {error}.", remedy="Correct its texts and defaults.") from error
    hidden = next((match for text in _strings(values) if (match := HIDDEN.search(text))), None)
    if hidden is not None:
        raise NotPlausible(
            f"{template.type}: its texts contain the invisible character U+{ord(hidden[0]):04X}.",
            remedy="Remove it from the docstring, labels, help texts and defaults.",
        )


def _strings(value: JsonValue) -> Iterator[str]:
    """Yield every text in a value, including member names."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in (*value, *value.values()) if isinstance(value, dict) else value:
            yield from _strings(item)


def _texts(template: Template) -> Iterator[tuple[str, str]]:
    """Yield what users and models read of it: kind of text, and text."""
    yield from (("label", template.label), ("category", template.category), ("icon", template.icon))
    yield "description", template.description
    yield from (("keyword", keyword) for keyword in template.keywords)
    for field in template.fields:
        yield from (("label", field.label), ("help", field.help))
        yield from (("option", option) for option in field.options)
    for output in template.outputs:
        yield from (("label", output.label), ("help", output.help))
