"""The dashboard and the alert rules of `deploy/` are valid, and use metrics and labels that the server exports."""

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx2
import promql_parser
import pytest
import yaml

from headgate.foundation.settings import Settings
from headgate.foundation.telemetry.prometheus import METRICS
from tests.support.deployment import FOLDER
from tests.support.people import running

RULES = FOLDER / "prometheus" / "alerts.yaml"
DASHBOARD = FOLDER / "grafana" / "headgate.json"
SCRAPED = {"job", "instance"}
"""Labels that Prometheus adds."""
_VARIABLES = {"$__rate_interval": "5m", "$job": ".*"}


def series() -> dict[str, set[str]]:
    """The labels of every series, by its name."""
    found: dict[str, set[str]] = {}
    for metric in METRICS.values():
        labels = {*metric.labels, *SCRAPED}
        if metric.kind == "histogram":
            found |= {f"{metric.name}_sum": labels, f"{metric.name}_count": labels}
            found[f"{metric.name}_bucket"] = {*labels, "le"}
        else:
            found[metric.shown_name] = labels
    return found


def rules() -> list[dict[str, Any]]:
    return [rule for group in yaml.safe_load(RULES.read_text("utf-8"))["groups"] for rule in group["rules"]]


def panels() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(DASHBOARD.read_text("utf-8"))["panels"]
    return found


def expressions() -> Iterator[tuple[str, str]]:
    """Every expression of the files, and where it is."""
    for rule in rules():
        yield rule["alert"], rule["expr"]
    for panel in panels():
        for target in panel.get("targets", ()):
            text = target["expr"]
            for name, value in _VARIABLES.items():
                text = text.replace(name, value)
            yield panel["title"], text


def used(text: str) -> tuple[list[promql_parser.VectorSelector], set[str]]:
    """The series that an expression selects, and the labels by which it groups."""
    selected: list[promql_parser.VectorSelector] = []
    grouped: set[str] = set()

    def visit(node: object) -> bool:
        if isinstance(node, promql_parser.VectorSelector):
            selected.append(node)
        if isinstance(node, promql_parser.AggregateExpr) and node.modifier is not None:
            grouped.update(node.modifier.labels)
        return True

    promql_parser.walk(promql_parser.parse(text), visit)
    return selected, grouped


@pytest.mark.parametrize(("place", "text"), [pytest.param(*one, id=one[0]) for one in expressions()])
def test_every_expression_uses_series_and_labels_that_exist(place: str, text: str) -> None:
    known = series()
    selected, grouped = used(text)
    assert selected, place
    for selector in selected:
        assert selector.name in known, (place, selector.name)
        matched = {matcher.name for matcher in selector.matchers.matchers}
        assert matched <= known[selector.name], (place, matched)
    assert grouped <= set.union(*(known[str(selector.name)] for selector in selected)), (place, grouped)


async def test_the_server_exports_every_series_that_they_use(settings: Settings) -> None:
    async with running(settings) as app:
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:7411") as client:
            page = (await client.get("/metrics")).text
    exported = set(re.findall(r"^# TYPE (\S+)", page, re.MULTILINE))
    names = {str(selector.name) for _, text in expressions() for selector in used(text)[0]}
    assert {re.sub(r"_(bucket|sum|count)$", "", name) for name in names} <= exported


def test_a_check_of_an_unknown_metric_would_fail() -> None:
    selected, grouped = used('sum by (place) (rate(headgate_never_total{status="x"}[5m]))')
    assert [selector.name for selector in selected] == ["headgate_never_total"]
    assert "headgate_never_total" not in series()
    assert grouped == {"place"}


def test_rules_say_what_happened_and_how_bad_it_is() -> None:
    names = [rule["alert"] for rule in rules()]
    assert len(names) == len(set(names))
    for rule in rules():
        assert rule["labels"]["severity"] in {"warning", "critical"}
        assert set(rule["annotations"]) == {"summary", "description"}


def test_panels_have_ids_titles_and_do_not_overlap() -> None:
    ids = [panel["id"] for panel in panels()]
    assert len(ids) == len(set(ids))
    fields = [
        (x, y)
        for panel in panels()
        for place in [panel["gridPos"]]
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(fields) == len(set(fields))
    assert all(panel["title"] for panel in panels())
    assert max(x for x, _ in fields) < 24
