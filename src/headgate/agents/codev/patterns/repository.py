"""Every query on patterns. The tenant is always required."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import case, delete, func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.agents.codev.tables import PatternRow, PatternUseRow, PatternWordRow

STEPS = 10
"""Match scores are rounded to a tenth; ties are broken by success count."""


async def find_pattern(session: AsyncSession, pattern_id: str, *, tenant_id: str) -> PatternRow | None:
    """One pattern."""
    query = select(PatternRow).where(PatternRow.id == pattern_id, PatternRow.tenant_id == tenant_id)
    return (await session.execute(query)).scalar_one_or_none()


async def find_same(session: AsyncSession, digest: str, *, tenant_id: str, space_id: str) -> PatternRow | None:
    """The pattern of a space with this digest."""
    query = select(PatternRow).where(
        PatternRow.tenant_id == tenant_id, PatternRow.space_id == space_id, PatternRow.digest == digest
    )
    return (await session.execute(query)).scalar_one_or_none()


async def list_patterns(
    session: AsyncSession,
    *,
    tenant_id: str,
    space_ids: Collection[str] | None,
    domain: str,
    limit: int,
    after: str | None,
) -> Sequence[PatternRow]:
    """Newest first; `after` is the id of the last one of the page before, `space_ids` None: of all spaces."""
    query = select(PatternRow).where(*_shown(tenant_id, space_ids, domain))
    if after is not None:
        query = query.where(PatternRow.id < after)
    return (await session.execute(query.order_by(PatternRow.id.desc()).limit(limit))).scalars().all()


async def count_words(session: AsyncSession, words: Collection[str], *, tenant_id: str) -> Mapping[str, int]:
    """Count the patterns with each of these words."""
    query = (
        select(PatternWordRow.word, func.count())
        .where(PatternWordRow.tenant_id == tenant_id, PatternWordRow.word.in_(words))
        .group_by(PatternWordRow.word)
    )
    return {row[0]: row[1] for row in (await session.execute(query)).all()}


async def search_patterns(
    session: AsyncSession,
    rarity: Mapping[str, float],
    *,
    tenant_id: str,
    space_ids: Collection[str] | None,
    domain: str,
    limit: int,
) -> Sequence[PatternRow]:
    """Return the patterns with these words, by match, then by success count, then the newest.

    Args:
        session: A session.
        rarity: Words and how much each says.
        tenant_id: Whose patterns.
        space_ids: The spaces that are looked in; None: all.
        domain: Of one domain; empty: of all.
        limit: Patterns at most.
    """
    if session.get_bind().dialect.name == "postgresql":
        # Where nothing was counted yet it takes a tenant for a handful of rows, and compares every hit with every one.
        await session.execute(text("SET LOCAL enable_nestloop = off"))
    score = func.sum(PatternWordRow.weight * case(rarity, value=PatternWordRow.word, else_=0.0))
    of_the_best = score / func.max(score).over()
    ranked = (
        select(PatternRow.id)
        .join(PatternWordRow, PatternWordRow.pattern_id == PatternRow.id)
        .where(PatternWordRow.tenant_id == tenant_id, PatternWordRow.word.in_(rarity.keys()))
        .where(*_shown(tenant_id, space_ids, domain))
        .group_by(PatternRow.id)
        .order_by(
            func.round(of_the_best * STEPS).desc(), PatternRow.success_count.desc(), score.desc(), PatternRow.id.desc()
        )
        .limit(limit)
    )
    ids = (await session.execute(ranked)).scalars().all()
    rows = await session.execute(select(PatternRow).where(PatternRow.id.in_(ids)))
    patterns = {row.id: row for row in rows.scalars()}
    return [patterns[id_] for id_ in ids if id_ in patterns]


async def add_pattern(session: AsyncSession, row: PatternRow, words: Mapping[str, int]) -> None:
    """Insert it with its words. Raises SQLAlchemy's `IntegrityError` when its space has the same."""
    session.add(row)
    await session.flush()
    session.add_all(
        PatternWordRow(tenant_id=row.tenant_id, word=word, pattern_id=row.id, weight=weight)
        for word, weight in words.items()
    )
    await session.flush()


async def find_use(session: AsyncSession, pattern_id: str, *, tenant_id: str, session_id: str) -> PatternUseRow | None:
    """That a session used a pattern."""
    query = select(PatternUseRow).where(
        PatternUseRow.pattern_id == pattern_id,
        PatternUseRow.session_id == session_id,
        PatternUseRow.tenant_id == tenant_id,
    )
    return (await session.execute(query)).scalar_one_or_none()


async def uncounted_uses(session: AsyncSession, *, tenant_id: str, session_id: str) -> Sequence[str]:
    """The patterns that a session used and that were not counted for it yet."""
    query = select(PatternUseRow.pattern_id).where(
        PatternUseRow.session_id == session_id,
        PatternUseRow.tenant_id == tenant_id,
        PatternUseRow.counted.is_(False),
    )
    return (await session.execute(query)).scalars().all()


async def add_use(session: AsyncSession, row: PatternUseRow) -> None:
    """Insert."""
    session.add(row)
    await session.flush()


async def trim_space(session: AsyncSession, *, tenant_id: str, space_id: str, most: int, keep: str) -> None:
    """Delete what exceeds `most`: least successful first, then oldest; never `keep`."""
    surplus = (
        select(PatternRow.id)
        .where(PatternRow.tenant_id == tenant_id, PatternRow.space_id == space_id, PatternRow.id != keep)
        .order_by(PatternRow.success_count.desc(), PatternRow.id.desc())
        .offset(most - 1)
    )
    ids = (await session.execute(surplus)).scalars().all()
    if ids:
        await session.execute(
            delete(PatternRow)
            .where(PatternRow.tenant_id == tenant_id, PatternRow.id.in_(ids))
            .execution_options(synchronize_session=False)
        )


async def delete_pattern(session: AsyncSession, row: PatternRow) -> None:
    """Delete it with its words."""
    await session.delete(row)
    await session.flush()


def _shown(tenant_id: str, space_ids: Collection[str] | None, domain: str) -> list[Any]:
    conditions: list[Any] = [PatternRow.tenant_id == tenant_id]
    if space_ids is not None:
        conditions.append(PatternRow.space_id.in_(space_ids))
    if domain:
        conditions.append(PatternRow.domain == domain)
    return conditions
