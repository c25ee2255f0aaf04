"""What notices of alerts say, in each language: which rule, which flows, which values."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from headgate.features.alerts.tables import AlertRow, AlertRuleRow
from headgate.features.runs.deliveries.letters import Letter, one_line
from headgate.foundation.database import moment

MOST_LISTED = 20
"""Alerts that a notice names; of more it says how many."""

_WORDS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "opened": "Alert",
        "resolved": "Resolved",
        "escalated": "Alert not acknowledged",
        "test": "Test of the alert rule",
        "all": "All flows of the rule",
        "more": "More",
        "more_of": "{count} further alerts",
        "over": "resolved",
        "failure": "failed runs in {window}: {value:g}",
        "failure_rate": "{value:g} % of the runs in {window} failed",
        "slow": "a run took {duration}",
        "silent": "no run for {duration} after it was due",
        "cost": "${value:,.2f} in {window}",
        "queue": "runs that have waited longer than {window}: {value:g}",
        "budget": "{value:g} % of the daily budget is used",
        "burn_fast": "the error budget is used {value:g} times too fast ({window})",
        "burn_slow": "the error budget is used {value:g} times too fast ({window})",
        "dead_worker": "servers and workers that died in {window}: {value:g}",
        "nothing": "This is a test. Nothing happened.",
        "note": "Note",
    },
    "sv": {
        "opened": "Larm",
        "resolved": "Löst",
        "escalated": "Larm som ingen har kvitterat",
        "test": "Test av larmregeln",
        "all": "Alla flöden i regeln",
        "more": "Fler",
        "more_of": "{count} larm till",
        "over": "löst",
        "failure": "misslyckade körningar på {window}: {value:g}",
        "failure_rate": "{value:g} % av körningarna på {window} misslyckades",
        "slow": "en körning tog {duration}",
        "silent": "ingen körning på {duration} efter utsatt tid",
        "cost": "{value:,.2f} USD på {window}",
        "queue": "körningar som har väntat längre än {window}: {value:g}",
        "budget": "{value:g} % av dagsbudgeten är använd",
        "burn_fast": "felbudgeten förbrukas {value:g} gånger för fort ({window})",
        "burn_slow": "felbudgeten förbrukas {value:g} gånger för fort ({window})",
        "dead_worker": "servrar och arbetsprocesser som dött på {window}: {value:g}",
        "nothing": "Det här är ett test. Inget har hänt.",
        "note": "Notering",
    },
}
_UNITS = {"d": 86_400, "h": 3_600, "min": 60, "s": 1}


class Item(BaseModel):
    """An alert as its notice names it."""

    model_config = ConfigDict(frozen=True)

    id: str
    flow_id: str
    name: str
    value: float
    opened_at: int
    """Microseconds in UTC, like `resolved_at`."""
    resolved_at: int | None = None


class Content(BaseModel):
    """The alerts of a notice: at most `MOST_LISTED` of each list, and how many there are."""

    model_config = ConfigDict(frozen=True)

    opened: tuple[Item, ...] = ()
    resolved: tuple[Item, ...] = ()
    opened_count: int = 0
    resolved_count: int = 0


def content_of(opened: Sequence[AlertRow], resolved: Sequence[AlertRow] = ()) -> Content:
    """Return what a notice stores of alerts."""
    return Content(
        opened=tuple(_item(row) for row in opened[:MOST_LISTED]),
        resolved=tuple(_item(row) for row in resolved[:MOST_LISTED]),
        opened_count=len(opened),
        resolved_count=len(resolved),
    )


def _item(row: AlertRow) -> Item:
    return Item(
        id=row.id,
        flow_id=row.subject,
        name=row.name,
        value=row.value,
        opened_at=row.opened_at,
        resolved_at=row.resolved_at,
    )


def duration(seconds: float) -> str:
    """Return a time in its largest two units: 90 minutes are `1 h 30 min`."""
    left, parts = round(seconds), []
    for name, unit in _UNITS.items():
        count, left = divmod(left, unit)
        if count:
            parts.append(f"{count} {name}")
    return " ".join(parts[:2]) or "0 s"


def value_of(kind: str, value: float, window_seconds: int, language: str = "en") -> str:
    """Return what a rule of a kind found, in words."""
    window, lasted = duration(window_seconds), duration(value)
    return _WORDS[language][kind].format(value=value, window=window, duration=lasted)


def letter_of(rule: AlertRuleRow, kind: str, content: Content, public_url: str) -> Letter:
    """Return a notice by mail or chat."""
    words = _WORDS[rule.language]
    lines = [_line(rule, item, words) for item in (*content.opened, *content.resolved)]
    more = content.opened_count + content.resolved_count - len(lines)
    if more:
        lines.append((words["more"], words["more_of"].format(count=more)))
    if kind == "test":
        lines.append((words["note"], words["nothing"]))
    return Letter(one_line(f"{words[kind]}: {rule.name}"), tuple(lines), _url(public_url))


def _line(rule: AlertRuleRow, item: Item, words: Mapping[str, str]) -> tuple[str, str]:
    text = value_of(rule.kind, item.value, rule.window_seconds, rule.language)
    at = f"{moment(item.resolved_at or item.opened_at):%Y-%m-%d %H:%M} UTC"
    over = f"{words['over']}, " if item.resolved_at else ""
    return one_line(item.name) or words["all"], f"{over}{text} ({at})"


def body_of(rule: AlertRuleRow, kind: str, content: Content, public_url: str) -> dict[str, Any]:
    """Return a notice by webhook. Times are ISO 8601 in UTC."""
    return {
        "type": f"alert.{kind}",
        "rule_id": rule.id,
        "rule": rule.name,
        "kind": rule.kind,
        "threshold": rule.threshold,
        "window_seconds": rule.window_seconds,
        "opened": [_shown(item) for item in content.opened],
        "resolved": [_shown(item) for item in content.resolved],
        "opened_count": content.opened_count,
        "resolved_count": content.resolved_count,
        "url": _url(public_url) or None,
    }


def _shown(item: Item) -> dict[str, Any]:
    return {
        "id": item.id,
        "flow_id": item.flow_id or None,
        "name": item.name,
        "value": item.value,
        "opened_at": moment(item.opened_at).isoformat(),
        "resolved_at": None if item.resolved_at is None else moment(item.resolved_at).isoformat(),
    }


def _url(public_url: str) -> str:
    return f"{public_url.rstrip('/')}/alerts" if public_url else ""
