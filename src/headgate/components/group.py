"""The component for a frame around nodes on the canvas."""

from typing import Literal

from headgate.graph.frames import DEFAULT_HEIGHT, DEFAULT_WIDTH, LARGEST, SMALLEST
from headgate.sdk import Component, field


class Group(Component):
    """A frame with a title around nodes that belong together. They move with it; it does nothing in a run."""

    label = "Group"
    category = "note"
    icon = "group"
    annotation = True
    keywords = ("frame", "section", "box", "area", "region", "cluster", "collect", "together", "organise", "organize")

    title: str = field(
        default="",
        label="Title",
        help="What the nodes in it do together.",
        port=False,
        interpolate=False,
        max_length=200,
    )
    colour: Literal["grey", "teal", "blue", "violet", "amber", "red"] = field(
        default="grey", label="Colour", help="The colour of the frame."
    )
    width: int = field(
        default=DEFAULT_WIDTH, label="Width", help="In canvas units.", ge=SMALLEST, le=LARGEST, advanced=True
    )
    height: int = field(
        default=DEFAULT_HEIGHT, label="Height", help="In canvas units.", ge=SMALLEST, le=LARGEST, advanced=True
    )
