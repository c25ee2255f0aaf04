"""Port types and the coercions between them.

Every value on an edge has one of seven types. An edge is allowed when the output's type is among the types the input
accepts, or when a coercion of the table below leads to one of them. Nothing else converts silently: what can fail
(text to JSON) or lose something (a file to its text) is a component of its own, and the type error names it.

| from    | to      | what happens                                                        |
|---------|---------|---------------------------------------------------------------------|
| Text    | Message | a message of role `user` with that text                             |
| Message | Text    | the message's text                                                  |
| Data    | Text    | a string as it is, anything else as JSON                            |
| Data    | Table   | a list of objects becomes rows; anything else is an error of the run |
| Table   | Data    | a list of objects, one a row                                        |
| Table   | Text    | a Markdown table                                                    |
| Table   | Message | a message holding that Markdown table                               |
| Message | Data    | the message as an object                                            |
| Data    | Message | a message of role `user` holding what Data to Text gives            |
"""

from collections.abc import Collection
from enum import StrEnum


class PortType(StrEnum):
    """The type of a value on an edge."""

    TEXT = "Text"
    MESSAGE = "Message"
    DATA = "Data"
    TABLE = "Table"
    FILE = "File"
    MODEL = "Model"
    TOOL = "Tool"


CONFIGURATION_TYPES = frozenset({PortType.MODEL, PortType.TOOL})
"""Edges of these types configure their target step; they carry no data and add no step."""

COERCIONS: frozenset[tuple[PortType, PortType]] = frozenset(
    {
        (PortType.TEXT, PortType.MESSAGE),
        (PortType.MESSAGE, PortType.TEXT),
        (PortType.DATA, PortType.TEXT),
        (PortType.DATA, PortType.TABLE),
        (PortType.TABLE, PortType.DATA),
        (PortType.TABLE, PortType.TEXT),
        (PortType.TABLE, PortType.MESSAGE),
        (PortType.MESSAGE, PortType.DATA),
        (PortType.DATA, PortType.MESSAGE),
    }
)

CONVERTERS: dict[tuple[PortType, PortType], str] = {
    (PortType.TEXT, PortType.DATA): "ParseJSON",
    (PortType.TEXT, PortType.TABLE): "ParseJSON",
    (PortType.FILE, PortType.TEXT): "ReadFile",
    (PortType.FILE, PortType.DATA): "ReadFile",
    (PortType.FILE, PortType.TABLE): "ReadFile",
    (PortType.TEXT, PortType.FILE): "SaveFile",
}
"""Component to insert between two types without a coercion; the type error names it."""


def accepts(source: PortType, targets: Collection[PortType]) -> bool:
    """Return whether an output of type `source` may be connected to an input of any type in `targets`."""
    return source in targets or any((source, target) in COERCIONS for target in targets)


def landing_type(source: PortType, targets: Collection[PortType]) -> PortType | None:
    """Return the type of a value of `source` at an input of `targets`; None when it may not be connected."""
    if source in targets:
        return source
    return next((target for target in targets if (source, target) in COERCIONS), None)


def converter(source: PortType, targets: Collection[PortType]) -> str | None:
    """Return the component that converts `source` to one of `targets`, if any."""
    return next((CONVERTERS[source, target] for target in targets if (source, target) in CONVERTERS), None)
