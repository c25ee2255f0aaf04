"""Times, tokens and prices as a report prints them. Pure."""

from headgate.features.runs.report.markdown import plain
from headgate.features.runs.reruns.costs import Cost


def took(ms: float | None) -> str:
    """A time as people read it."""
    if ms is None:
        return ""
    return plain(f"{ms:.0f} ms" if ms < 1000 else f"{ms / 1000:.1f} s")


def tokens(cost: Cost) -> str:
    """Tokens in and out; empty where no model was asked."""
    if not (cost.tokens_input or cost.tokens_output):
        return ""
    return f"{cost.tokens_input or 0:,} / {cost.tokens_output or 0:,}".replace(",", "\u00a0")


def price(cost: Cost, unknown: str) -> str:
    """Dollars; empty where nothing was bought."""
    if not (cost.tokens_input or cost.tokens_output):
        return ""
    return unknown if cost.usd is None else plain(f"${cost.usd:.4f}")
