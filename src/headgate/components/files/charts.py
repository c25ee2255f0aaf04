"""The component that draws charts."""

import base64
from typing import Literal, cast

from pydantic import JsonValue

from headgate.components.files.file_names import safe_name
from headgate.components.isolated import CHART
from headgate.components.isolated.calls import call_isolated
from headgate.components.isolated.results import packed
from headgate.components.readers.charting import Kind
from headgate.sdk import Component, File, Table, field, output

_MEDIA_TYPES = {"svg": "image/svg+xml", "png": "image/png"}


class Chart(Component):
    """Draws a chart of a table, as an SVG or PNG file: bars, lines, areas, points, a pie or a histogram."""

    label = "Chart"
    category = "output"
    icon = "chart-column"
    effect = True
    needs_extra = "charts"
    keywords = (
        "graph", "plot", "diagram", "bar chart", "line chart", "pie", "histogram", "scatter", "visualize",
        "visualise", "svg", "png", "picture", "image", "statistics", "trend",
    )  # fmt: skip

    table: Table = field(label="Table", help="The rows to draw.", main=True)
    kind: Kind = field(default="bar", label="Kind", help="Kind of chart.", port=False)
    labels: str = field(
        default="",
        label="Labels",
        help="Column of the labels or horizontal values; empty is the first column.",
        port=False,
        max_length=200,
    )
    series: list[str] = field(
        default_factory=list,
        name="values",
        label="Values",
        help="Columns of the values; empty draws every column with numbers.",
        port=False,
    )
    title: str = field(default="", label="Title", help="Title above the chart; empty for none.", max_length=200)
    format: Literal["svg", "png"] = field(default="png", label="Format", help="png or svg.", port=False)
    name: str = field(
        default="chart", label="File name", help="Without extension; the format adds it.", port=False, max_length=1000
    )
    width: int = field(default=900, label="Width", help="In pixels.", ge=200, le=4000, advanced=True)
    height: int = field(default=500, label="Height", help="In pixels.", ge=150, le=4000, advanced=True)

    @output(help="The chart.")
    async def file(self) -> File:
        """Draw in a separate process, then store."""
        plan: dict[str, JsonValue] = {
            "kind": self.kind,
            "labels": self.labels,
            "values": list[JsonValue](self.series),
            "title": self.title,
            "width": self.width,
            "height": self.height,
            "format": self.format,
        }
        picture = await call_isolated(self.ctx, CHART, {"table": packed(self.table), "plan": plan}, "Chart: the chart")
        await self.ctx.check_cancelled()
        stem = safe_name(self.name, default="chart").removesuffix(f".{self.format}")
        content = base64.b64decode(cast("str", picture))
        return await self.ctx.files.save(f"{stem}.{self.format}", content, _MEDIA_TYPES[self.format])
