"""Reads what the sandbox said about a component. It came from where foreign code runs, so it may be anything."""

import ast
import re
from collections.abc import Iterator

import orjson
from pydantic import JsonValue, ValidationError

from headgate.foundation.errors import Invalid
from headgate.graph.json_values import plain_json
from headgate.graph.manifest import Manifest
from headgate.graph.model import PORT_PATTERN, TYPE_PATTERN
from headgate.graph.ports import CONFIGURATION_TYPES
from headgate.graph.template import Template

MOST_FIELDS = 60
MOST_OUTPUTS = 30
MOST_BYTES = 200_000
"""Of the whole template as JSON."""
LONGEST_NAME = 200
"""Of labels, options and the like, in characters."""
LONGEST_TEXT = 8_000
"""Of descriptions: whoever searches reads them, models too."""
_HIDDEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)
"""What people do not see and models and terminals read: controls, turned writing, letters of Unicode's tags."""
_NAME = re.compile(PORT_PATTERN)
_TYPE = re.compile(TYPE_PATTERN)


class NotPlausible(Invalid):
    """What came back is no template of this code."""

    code = "not_plausible"
    title = "No usable description"


def read_description(described: JsonValue, code: str, manifest: Manifest) -> Template:
    """The template, with what only reading the code tells: whether it sends anything out, and reads the run's input.

    Raises `NotPlausible`.
    """
    if not isinstance(described, dict) or len(orjson.dumps(described)) > MOST_BYTES:
        raise NotPlausible("The component describes itself at too great a length.", remedy="Shorten its texts.")
    try:
        template = Template.model_validate(described.get("template"))
    except ValidationError as error:
        raise NotPlausible("The component does not describe itself properly.", remedy="Correct its fields.") from error
    tree = ast.parse(code)
    if template.type not in {node.name for node in tree.body if isinstance(node, ast.ClassDef)}:
        raise NotPlausible(f"The code defines no class '{template.type}' at its top.", remedy="Write the class there.")
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
            f"'{template.type}' is no name for a component.",
            remedy="Begin with a capital letter; use letters and digits, 64 at most.",
        )
    if len(template.fields) > MOST_FIELDS or len(template.outputs) > MOST_OUTPUTS:
        raise NotPlausible(
            f"{template.type} has more than {MOST_FIELDS} fields or {MOST_OUTPUTS} outputs.", remedy="Make two of it."
        )
    fields, outputs = [one.name for one in template.fields], [one.name for one in template.outputs]
    wrong = next((name for name in (*fields, *outputs) if not _NAME.fullmatch(name)), None)
    if wrong is not None:
        raise NotPlausible(
            f"'{wrong[:80]}' is no name for a field or an output.",
            remedy="Use small letters, digits and underscores, a letter first, 64 at most.",
        )
    if len(set(fields)) < len(fields) or len(set(outputs)) < len(outputs):
        raise NotPlausible(f"{template.type} has two fields or outputs of one name.", remedy="Rename one.")
    configures = {one.type for one in template.outputs} & CONFIGURATION_TYPES
    if configures or not template.outputs or any(one.takes_configuration for one in template.fields):
        raise NotPlausible(f"{template.type} is not a component that own code can be.", remedy="See its docs.")


def _require_texts(template: Template) -> None:
    """Raise `NotPlausible` for a text that is too long to be read, or that says what nobody sees."""
    for where, text in _texts(template):
        most = LONGEST_TEXT if where in {"description", "help"} else LONGEST_NAME
        if len(text) > most:
            raise NotPlausible(
                f"{template.type}: a {where} has {len(text)} characters; {most} are allowed.", remedy="Shorten it."
            )
    values = template.model_dump(mode="json")
    try:
        plain_json(values)
    except ValueError as error:
        raise NotPlausible(f"{template.type}: {error}.", remedy="Correct its texts and defaults.") from error
    hidden = next((found for text in _strings(values) if (found := _HIDDEN.search(text))), None)
    if hidden is not None:
        raise NotPlausible(
            f"{template.type}: its texts hold the character U+{ord(hidden[0]):04X}, which nobody sees.",
            remedy="Take it out of the docstring, the labels, the help and the defaults.",
        )


def _strings(value: JsonValue) -> Iterator[str]:
    """Every text in a value, names of members too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for one in (*value, *value.values()) if isinstance(value, dict) else value:
            yield from _strings(one)


def _texts(template: Template) -> Iterator[tuple[str, str]]:
    """What people and models read of it: what each text is, and the text."""
    yield from (("label", template.label), ("category", template.category), ("icon", template.icon))
    yield "description", template.description
    yield from (("keyword", word) for word in template.keywords)
    for field in template.fields:
        yield from (("label", field.label), ("help", field.help))
        yield from (("option", option) for option in field.options)
    for output in template.outputs:
        yield from (("label", output.label), ("help", output.help))
