"""Formats times, tokens and prices for reports. Pure."""

from headgate.features.runs.report.markdown import plain
from headgate.features.runs.reruns.costs import Cost


def took(ms: float | None) -> str:
    """Format a duration in milliseconds."""
    if ms is None:
        return ""
    return plain(f"{ms:.0f} ms" if ms < 1000 else f"{ms / 1000:.1f} s")


def tokens(cost: Cost) -> str:
    """Format input and output tokens; empty when no model was called."""
    if not (cost.tokens_input or cost.tokens_output):
        return ""
    return f"{cost.tokens_input or 0:,} / {cost.tokens_output or 0:,}".replace(",", "\u00a0")


def price(cost: Cost, unknown: str) -> str:
    """Format US dollars; empty when there was no cost."""
    if not (cost.tokens_input or cost.tokens_output):
        return ""
    return unknown if cost.usd is None else plain(f"${cost.usd:.4f}")
