"""Draws charts of tables as SVG or PNG. Run it in a separate process: the drawing library is large and slow."""

import io
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from pydantic import JsonValue

from headgate.graph.names import clipped, did_you_mean, listed
from headgate.sdk import ComponentError, Table

Kind = Literal["bar", "line", "area", "scatter", "pie", "histogram"]
MOST_POINTS: Final = {"bar": 500, "line": 20_000, "area": 20_000, "scatter": 20_000, "pie": 50, "histogram": 100_000}
"""Maximum rows per kind of chart."""
MOST_SERIES = 20
_DPI = 100
_INK, _GRID = "#333333", "#dddddd"
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c6d31", "#999999")
"""Okabe and Ito's palette, which people with colour blindness can distinguish, without its yellow and black."""


@dataclass(frozen=True, slots=True)
class ChartPlan:
    """What to draw."""

    kind: Kind
    labels: str
    """Column of the labels or the horizontal values; empty is the first column."""
    values: tuple[str, ...]
    """Columns of the values; empty are all numeric ones."""
    title: str
    width: int
    height: int
    """In pixels."""
    format: Literal["svg", "png"]


@dataclass(frozen=True, slots=True)
class _Series:
    name: str
    numbers: list[float]
    """NaN where there is no number."""


def draw_chart(table: Table, plan: ChartPlan) -> bytes:
    """Return the picture. Raises `ComponentError` for a missing column, a column without numbers, too many rows."""
    if not table.rows:
        raise ComponentError("Chart: the table has no rows.", remedy="Check the source of the table.")
    if len(table.rows) > MOST_POINTS[plan.kind]:
        raise ComponentError(
            f"Chart: the table has {len(table.rows)} rows; a {plan.kind} chart shows at most {MOST_POINTS[plan.kind]}.",
            remedy="Group the rows with TableQuery first.",
        )
    labels = plan.labels or ("" if plan.kind == "histogram" else table.columns[0])
    horizontal = _column(table, labels, "labels") if labels else []
    series = _series(table, plan, labels)
    figure = _figure(plan)
    axes = figure.add_subplot()
    _DRAW[plan.kind](axes, horizontal, series)
    if plan.kind != "pie":
        _style(axes, plan, labels, series)
    if plan.title:
        axes.set_title(plan.title, color=_INK, parse_math=False)
    stream = io.BytesIO()
    figure.savefig(stream, format=plan.format, metadata={"Date": None} if plan.format == "svg" else None)
    return stream.getvalue()


def _column(table: Table, name: str, field: str) -> list[JsonValue]:
    if name not in table.columns:
        raise ComponentError(
            f"Chart: the table has no column '{clipped(name, 60)}'{did_you_mean(name, table.columns) or '.'}",
            remedy=f"Its columns are: {listed(table.columns, most=30)}.",
            field=field,
        )
    position = table.columns.index(name)
    return [row[position] for row in table.rows]


def _series(table: Table, plan: ChartPlan, labels: str) -> list[_Series]:
    names = plan.values or tuple(
        name for name in table.columns if name != labels and _has_numbers(_column(table, name, "values"))
    )
    series = [_Series(name, [_number(value) for value in _column(table, name, "values")]) for name in names]
    if plan.kind == "pie":
        series = series[:1]
    if not series or any(all(math.isnan(number) for number in entry.numbers) for entry in series):
        empty = next((entry.name for entry in series if all(math.isnan(number) for number in entry.numbers)), "")
        raise ComponentError(
            f"Chart: column '{clipped(empty, 60)}' has no numbers." if empty else "Chart: no column has numbers.",
            remedy="Choose columns with numbers in Values.",
            field="values",
        )
    if len(series) > MOST_SERIES:
        raise ComponentError(f"Chart: more than {MOST_SERIES} columns of values.", remedy="Choose some in Values.")
    return series


def _has_numbers(values: Sequence[JsonValue]) -> bool:
    return any(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def _number(value: JsonValue) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    return float(value) if math.isfinite(value) else math.nan


def _figure(plan: ChartPlan) -> Any:  # noqa: ANN401 - a lazily imported type
    os.environ.setdefault("MPLCONFIGDIR", os.getcwd())  # noqa: PTH109 - the scratch folder of the process
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from matplotlib import rcParams  # noqa: PLC0415 - an optional library
    from matplotlib.figure import Figure  # noqa: PLC0415

    rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "headgate", "font.size": 10})
    return Figure(figsize=(plan.width / _DPI, plan.height / _DPI), dpi=_DPI, layout="constrained")


def _style(axes: Any, plan: ChartPlan, labels: str, series: Sequence[_Series]) -> None:  # noqa: ANN401
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color=_GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(colors=_INK)
    horizontal = series[0].name if plan.kind == "histogram" else labels
    axes.set_xlabel(clipped(horizontal, 80), color=_INK, parse_math=False)
    for text in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        text.set_parse_math(False)
    if len(series) > 1:
        for text in axes.legend(frameon=False).get_texts():
            text.set_parse_math(False)


def _bars(axes: Any, labels: Sequence[JsonValue], series: Sequence[_Series]) -> None:  # noqa: ANN401
    width = 0.8 / len(series)
    for number, entry in enumerate(series):
        offset = (number - (len(series) - 1) / 2) * width
        places = [place + offset for place in range(len(entry.numbers))]
        axes.bar(places, entry.numbers, width, label=_label(entry.name), color=_colour(number))
    _name_places(axes, labels)


def _lines(axes: Any, labels: Sequence[JsonValue], series: Sequence[_Series]) -> None:  # noqa: ANN401
    for number, entry in enumerate(series):
        marker = "o" if len(entry.numbers) <= 40 else ""
        places = list(range(len(entry.numbers)))
        axes.plot(places, entry.numbers, marker=marker, markersize=4, label=_label(entry.name), color=_colour(number))
    _name_places(axes, labels)


def _areas(axes: Any, labels: Sequence[JsonValue], series: Sequence[_Series]) -> None:  # noqa: ANN401
    numbers = [[0 if math.isnan(number) else number for number in entry.numbers] for entry in series]
    colours = [_colour(number) for number in range(len(series))]
    names = [_label(entry.name) for entry in series]
    axes.stackplot(range(len(labels)), numbers, labels=names, colors=colours, alpha=0.8)
    _name_places(axes, labels)


def _points(axes: Any, labels: Sequence[JsonValue], series: Sequence[_Series]) -> None:  # noqa: ANN401
    places = [_number(label) for label in labels]
    if all(math.isnan(place) for place in places):
        places = [float(place) for place in range(len(labels))]
        _name_places(axes, labels)
    for number, entry in enumerate(series):
        axes.scatter(places, entry.numbers, s=18, label=_label(entry.name), color=_colour(number))


def _pie(axes: Any, labels: Sequence[JsonValue], series: Sequence[_Series]) -> None:  # noqa: ANN401
    numbers = [0 if math.isnan(number) else number for number in series[0].numbers]
    if any(number < 0 for number in numbers) or not any(numbers):
        raise ComponentError(
            "Chart: a pie chart needs positive numbers.", remedy="Choose another kind of chart.", field="kind"
        )
    names = [clipped(_shown(label), 40) for label in labels]
    colours = [_colour(number) for number in range(len(numbers))]
    _, texts, _ = axes.pie(numbers, labels=names, colors=colours, autopct="%1.0f%%", startangle=90, counterclock=False)
    for text in texts:
        text.set_parse_math(False)


def _histogram(axes: Any, _labels: Sequence[JsonValue], series: Sequence[_Series]) -> None:  # noqa: ANN401
    for number, entry in enumerate(series):
        numbers = [value for value in entry.numbers if not math.isnan(value)]
        bins = max(5, min(50, math.ceil(math.sqrt(len(numbers)))))
        axes.hist(numbers, bins=bins, label=_label(entry.name), color=_colour(number), alpha=0.8)


_DRAW = {"bar": _bars, "line": _lines, "area": _areas, "scatter": _points, "pie": _pie, "histogram": _histogram}


def _name_places(axes: Any, labels: Sequence[JsonValue]) -> None:  # noqa: ANN401
    """Show at most 30 labels, evenly distributed."""
    step = max(1, math.ceil(len(labels) / 30))
    places = list(range(0, len(labels), step))
    names = [clipped(_shown(labels[place]), 24) for place in places]
    turned = sum(len(name) for name in names) > 60
    axes.set_xticks(places, names, rotation=45 if turned else 0, ha="right" if turned else "center")


def _shown(value: JsonValue) -> str:
    return "" if value is None else str(value)


def _label(name: str) -> str:
    """A legend ignores names that begin with an underscore."""
    return clipped(name.lstrip("_") or name, 40)


def _colour(number: int) -> str:
    return _COLOURS[number % len(_COLOURS)]
