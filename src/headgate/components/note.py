"""The component for notes on the canvas."""

from headgate.graph.template import FieldKind
from headgate.sdk import Component, field


class Note(Component):
    """A note on the canvas, in Markdown. It does nothing in a run."""

    label = "Note"
    category = "note"
    icon = "sticky-note"
    annotation = True
    keywords = (
        "comment", "remark", "annotation", "documentation", "explain", "sticky", "text", "describe", "reminder",
        "heading", "memo",
    )  # fmt: skip

    text: str = field(
        default="",
        label="Text",
        help="Text of the note, in Markdown.",
        kind=FieldKind.MULTILINE,
        port=False,
        interpolate=False,
    )
