"""Measures of retrieval with binary relevance: recall, nDCG and reciprocal rank, each from 0 to 1.

A question has expected documents; the rank of each is that of its first relevant passage among the k passages found.
"""

from collections.abc import Sequence
from math import log2

Ranks = Sequence[int | None]
"""The rank of each expected document, from 1; None: not among the first k."""


def recall(ranks: Ranks) -> float:
    """Return the share of the expected documents that were found."""
    return sum(rank is not None for rank in ranks) / len(ranks)


def ndcg(ranks: Ranks, k: int) -> float:
    """Return the normalised discounted cumulative gain at k (Järvelin and Kekäläinen, 2002)."""
    gain = sum(1 / log2(1 + rank) for rank in ranks if rank is not None)
    best = sum(1 / log2(1 + rank) for rank in range(1, min(len(ranks), k) + 1))
    return gain / best


def reciprocal_rank(ranks: Ranks) -> float:
    """Return one divided by the best rank; 0 when nothing was found."""
    return max((1 / rank for rank in ranks if rank is not None), default=0.0)
