"""Whether everybody can use a page, as far as axe-core can tell."""

from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

_SCRIPT = Path(__file__).parents[3] / "web" / "node_modules" / "axe-core" / "axe.min.js"
_SERIOUS = {"serious", "critical"}


def check_accessible(page: Page, *, within: str = "body") -> None:
    """Fail where axe finds a serious violation: what, why, and the elements."""
    serious = [one for one in violations(page, within) if one["impact"] in _SERIOUS]
    assert not serious, "\n".join(_said(one) for one in serious)


def check_clean(page: Page, *, within: str = "html") -> None:
    """Fail where axe finds any violation, however slight."""
    found = violations(page, within)
    assert not found, "\n".join([page.url, *(_said(one) for one in found)])


def violations(page: Page, within: str) -> list[dict[str, Any]]:
    """Everything that axe finds."""
    page.evaluate(_script())
    found: dict[str, Any] = page.evaluate("within => axe.run(within, {resultTypes: ['violations']})", within)
    listed: list[dict[str, Any]] = found["violations"]
    return listed


def _said(found: dict[str, Any]) -> str:
    return "\n".join([f"{found['id']}: {found['help']}", *(f"    {_shown(node)}" for node in found["nodes"])])


def _shown(node: dict[str, Any]) -> str:
    return f"{' '.join(map(str, node['target']))}: {node.get('failureSummary', '').replace(chr(10), ' ')}"


@cache
def _script() -> str:
    return _SCRIPT.read_text(encoding="utf-8")
