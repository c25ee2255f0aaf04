"""Formats times, tokens, prices and limits for reports. Pure."""

from headgate.features.runs.budgets.accounts import BudgetUse, Kind
from headgate.features.runs.report.markdown import plain
from headgate.features.runs.report.words import Words
from headgate.features.runs.reruns.costs import Cost
from headgate.graph.model import Budget, RetryPolicy


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


def retries(labels: Words, policy: RetryPolicy | None) -> str:
    """Format the attempts that a policy allows; empty without one."""
    if policy is None:
        return ""
    delay = f"{policy.delay_seconds:g}"
    return plain(
        labels["retries_of"].format(attempts=policy.max_attempts, backoff=labels[policy.backoff], seconds=delay)
    )


def seconds(labels: Words, limit: float | None) -> str:
    """Format a limit of time; empty without one."""
    return "" if limit is None else plain(labels["seconds"].format(seconds=f"{limit:g}"))


def used(labels: Words, use: BudgetUse) -> str:
    """Format what is used of a budget."""
    used_text, limit_text = (_amount(labels, use.kind, amount) for amount in (use.used, use.limit))
    return labels[f"budget_of_{use.scope.value}"].format(id=use.owner_id, used=used_text, limit=limit_text)


def _amount(labels: Words, kind: Kind, amount: float) -> str:
    match kind:
        case Kind.USD:
            return f"${amount:.4g}"
        case Kind.TOKENS:
            return f"{amount:,.0f} tokens".replace(",", "\u00a0")
        case Kind.SECONDS:
            return labels["seconds"].format(seconds=f"{amount:.4g}")


def budget(labels: Words, limits: Budget | None) -> str:
    """Format the limits of a budget; empty without one."""
    if limits is None:
        return ""
    parts = [
        "" if limits.usd is None else f"${limits.usd:g}",
        "" if limits.tokens is None else f"{limits.tokens:,} tokens".replace(",", "\u00a0"),
        "" if limits.seconds is None else labels["seconds"].format(seconds=f"{limits.seconds:g}"),
    ]
    return plain(", ".join(part for part in parts if part))
