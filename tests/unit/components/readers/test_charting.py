"""Charts."""

import re
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from headgate.components.readers.charting import MOST_POINTS, ChartPlan, Kind, draw_chart
from headgate.sdk import ComponentError, Table

SALES = Table(columns=["month", "sales", "cost"], rows=[["January", 12, 8.5], ["$x^2$ <b>", 18, None], ["Mars", 9, 3]])


def draw(table: Table = SALES, **changes: Any) -> bytes:
    plan: dict[str, Any] = {
        "kind": "bar", "labels": "", "values": (), "title": "", "width": 400, "height": 300, "format": "svg",
    }  # fmt: skip
    return draw_chart(table, ChartPlan(**plan | changes))


def words(svg: bytes) -> str:
    return " ".join("".join(one.itertext()) for one in ET.fromstring(svg).iter() if one.tag.endswith("text"))


class TestDrawChart:
    @pytest.mark.parametrize("kind", MOST_POINTS)
    def test_draws_each_kind_in_both_formats(self, kind: Kind) -> None:
        assert b"<svg" in draw(kind=kind)
        assert draw(kind=kind, format="png").startswith(b"\x89PNG")

    def test_shows_labels_series_and_title_as_they_are(self) -> None:
        shown = words(draw(title="Sales of $Q_1$"))
        for text in ("January", "$x^2$ <b>", "sales", "cost", "Sales of $Q_1$"):
            assert text in shown

    def test_draws_the_chosen_columns(self) -> None:
        shown = words(draw(values=("cost",), labels="sales"))
        assert "January" not in shown
        assert "18" in shown

    def test_is_the_same_each_time(self) -> None:
        assert draw() == draw()
        assert not re.search(rb"<dc:date>", draw())

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"labels": "mont"}, r"no column 'mont'; did you mean 'month'"),
            ({"values": ("month",)}, "column 'month' has no numbers"),
            ({"table": Table(columns=["a"], rows=[["x"]])}, "no column has numbers"),
            ({"table": Table(columns=["a"])}, "the table has no rows"),
            ({"kind": "pie", "table": Table(columns=["a", "b"], rows=[["x", -1]])}, "positive numbers"),
            ({"kind": "pie", "table": Table(columns=["a", "b"], rows=[["x", 1]] * 51)}, "at most 50"),
        ],
    )
    def test_explains_what_cannot_be_drawn(self, changes: dict[str, Any], message: str) -> None:
        with pytest.raises(ComponentError, match=message):
            draw(**changes)
