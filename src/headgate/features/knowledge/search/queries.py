"""Embedded queries, further ones, and what is said when a query could not be embedded."""

from dataclasses import dataclass

from headgate.foundation.errors import HeadgateError, RateLimited, Unavailable, UpstreamFailed

LIKELY_TO_PASS = (UpstreamFailed, Unavailable, RateLimited)
"""Failures of a model server after which a search without a chosen mode is lexical, and says so."""


@dataclass(frozen=True, slots=True)
class Question:
    """An embedded query."""

    model: str
    vector: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Variant:
    """Another query of the same search, whose ranks are fused with those of the first one."""

    text: str
    question: Question | None = None
    """Embedded; None: it is searched by words."""


def not_embedded(error: HeadgateError) -> str:
    """Return why a search was lexical although its base has vectors."""
    return f"Lexical search: the question could not be embedded. {error}"
