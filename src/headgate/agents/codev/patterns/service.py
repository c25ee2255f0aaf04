"""Keeping, finding, counting and removing patterns."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import log
from typing import Any

from pydantic import JsonValue
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.agents.codev.patterns import repository
from headgate.agents.codev.patterns.errors import PatternNotFound
from headgate.agents.codev.patterns.recipes import components_of, plain, recipe_of
from headgate.agents.codev.tables import PatternRow, PatternUseRow
from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.accounts.spaces.service import require_space, spaces_shown
from headgate.features.audit.recorder import record_of
from headgate.features.catalog.words import word_set, words
from headgate.foundation.canonical import digest
from headgate.foundation.database import now
from headgate.foundation.errors import Unavailable
from headgate.foundation.ids import is_id, new_id

LONGEST_WORD = 40
MOST_WORDS = 300
"""Of one pattern."""
MOST_ASKED = 16
"""Of one search."""
_LONGEST_TEXT = 20_000
_NOISE = word_set(
    "a an the of to in on for and or with from by as at is are be it its this that these my your our me i you we us he "
    "can do does will should must how what which when one some any all each every please want need make made build "
    "flow use using then there so not if into en ett att och i på av för med som är det den de jag vi ska vill ett"
)


def stems(text: str) -> list[str]:
    """Return each word once, in order."""
    word_stems = (_stem(word) for word in words(text[:_LONGEST_TEXT]) if word not in _NOISE)
    return list(dict.fromkeys(stem[:LONGEST_WORD] for stem in word_stems if stem))


def weighted(texts: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Return each word with the highest weight of its texts; the highest weights first."""
    weights: dict[str, int] = {}
    for text, weight in texts:
        for stem in stems(text):
            if stem in weights or len(weights) < MOST_WORDS:
                weights[stem] = max(weight, weights.get(stem, 0))
    return weights


@lru_cache(maxsize=8192)
def _stem(word: str) -> str:
    """Apply Porter's second stemmer for English; words of other languages mostly stay unchanged."""
    return str(_stemmer().stemWord(word.replace("'", "").replace("’", "")))


@lru_cache(maxsize=1)
def _stemmer() -> Any:  # noqa: ANN401 - the library has no types
    """Imported at the first search: it brings the stemmers of thirty languages."""
    try:
        import snowballstemmer  # noqa: PLC0415 - a third of a second
    except ImportError as error:
        raise Unavailable(
            "Patterns cannot be searched: snowballstemmer is not installed.",
            remedy="Install the extra of a model provider, such as headgate[openai].",
        ) from error
    return snowballstemmer.stemmer("english")


MOST_OF_A_SPACE = 1_000
_LONGEST_REQUIREMENT = 4_000
_LONGEST_NAME = 200
_MOST_HITS = 5_000
"""Words and patterns that one search compares; limits its time."""
_OF_NAME, _OF_COMPONENTS, _OF_REQUIREMENT = 3, 2, 1
"""Word weights."""


async def keep_pattern(
    session: AsyncSession,
    principal: Principal,
    *,
    space_id: str,
    domain: str,
    name: str,
    requirement: str,
    definition: Mapping[str, JsonValue],
    session_id: str,
) -> PatternRow:
    """Store a flow, without its secrets; a duplicate is counted. Also counts the patterns that the session used.

    Keeping it a second time for the same session changes nothing. Raises `SpaceNotFound`, `PermissionMissing`.
    """
    await require_space(session, principal, space_id, Permission.FLOWS_EDIT)
    recipe = recipe_of(domain, definition)
    requirement_text = plain(requirement[:_LONGEST_REQUIREMENT])
    row = PatternRow(
        id=new_id(),
        tenant_id=principal.tenant_id,
        space_id=space_id,
        domain=domain,
        name=plain(name[:_LONGEST_NAME]),
        requirement=requirement_text,
        definition=recipe,
        digest=digest([domain, " ".join(requirement_text.split()).casefold(), recipe]),
        session_id=session_id,
        success_count=1,
        created_at=now(),
        updated_at=now(),
    )
    pattern = await _same(session, row)
    if pattern is None:
        pattern = await _add(session, principal, row)
    else:
        await _count(session, pattern, session_id)
    for used in await repository.uncounted_uses(session, tenant_id=principal.tenant_id, session_id=session_id):
        used_pattern = await repository.find_pattern(session, used, tenant_id=principal.tenant_id)
        if used_pattern is not None:
            await _count(session, used_pattern, session_id)
    await repository.trim_space(
        session, tenant_id=principal.tenant_id, space_id=space_id, most=MOST_OF_A_SPACE, keep=pattern.id
    )
    return pattern


async def note_use(session: AsyncSession, row: PatternRow, *, session_id: str) -> PatternUseRow:
    """Note that a session works with a pattern; it is counted when the session ends well."""
    use = await repository.find_use(session, row.id, tenant_id=row.tenant_id, session_id=session_id)
    if use is None:
        use = PatternUseRow(pattern_id=row.id, session_id=session_id, tenant_id=row.tenant_id, counted=False)
        await repository.add_use(session, use)
    return use


async def get_pattern(
    session: AsyncSession,
    principal: Principal,
    pattern_id: str,
    *,
    permission: Permission = Permission.FLOWS_VIEW,
) -> PatternRow:
    """A pattern that the caller may do this with. Raises `PatternNotFound`, `PermissionMissing`."""
    pattern = None
    if is_id(pattern_id):
        pattern = await repository.find_pattern(session, pattern_id, tenant_id=principal.tenant_id)
    if pattern is None:
        raise PatternNotFound(pattern_id)
    principal.require_in(pattern.space_id, permission, PatternNotFound(pattern_id))
    return pattern


async def search_patterns(
    session: AsyncSession,
    principal: Principal,
    words: str,
    *,
    domain: str = "",
    space_id: str | None = None,
    limit: int = 8,
) -> Sequence[PatternRow]:
    """Return the visible patterns with any of these words, best match first. Raises `SpaceNotFound`."""
    shown = await spaces_shown(session, principal, space_id, Permission.FLOWS_VIEW)
    asked = stems(words)[:MOST_ASKED]
    counts = await repository.count_words(session, asked, tenant_id=principal.tenant_id) if asked else {}
    if not counts:
        return ()
    rarity = _rarity(counts)
    return await repository.search_patterns(
        session, rarity, tenant_id=principal.tenant_id, space_ids=shown, domain=domain, limit=limit
    )


async def list_patterns(
    session: AsyncSession,
    principal: Principal,
    *,
    domain: str = "",
    space_id: str | None = None,
    limit: int = 50,
    after: str | None = None,
) -> Sequence[PatternRow]:
    """The patterns that the caller sees, newest first. Raises `SpaceNotFound`."""
    shown = await spaces_shown(session, principal, space_id, Permission.FLOWS_VIEW)
    return await repository.list_patterns(
        session, tenant_id=principal.tenant_id, space_ids=shown, domain=domain, limit=limit, after=after
    )


async def delete_pattern(session: AsyncSession, principal: Principal, pattern_id: str) -> None:
    """Remove one; flows that were built after it stay. Raises `PatternNotFound`, `PermissionMissing`."""
    row = await get_pattern(session, principal, pattern_id, permission=Permission.FLOWS_EDIT)
    await record_of(session, principal, "pattern.deleted", row, before={"digest": row.digest})
    await repository.delete_pattern(session, row)


def _rarity(counts: Mapping[str, int]) -> Mapping[str, float]:
    """Return word weights: the rarer, the higher. Very common words are skipped next to others."""
    most, hits, weights = max(counts.values()), 0, dict[str, float]()
    for word, count in sorted(counts.items(), key=lambda item: (item[1], item[0])):
        if weights and hits + count > _MOST_HITS:
            break
        weights[word], hits = log(2 + most / count), hits + count
    return weights


async def _same(session: AsyncSession, row: PatternRow) -> PatternRow | None:
    return await repository.find_same(session, row.digest or "", tenant_id=row.tenant_id, space_id=row.space_id)


async def _add(session: AsyncSession, principal: Principal, row: PatternRow) -> PatternRow:
    texts = [(row.name, _OF_NAME), (" ".join(components_of(row.definition)), _OF_COMPONENTS)]
    words = weighted([*texts, (row.requirement, _OF_REQUIREMENT)])
    own = row.session_id or ""
    try:
        async with session.begin_nested():
            await repository.add_pattern(session, row, words)
    except IntegrityError:
        pattern = await _same(session, row)  # another session kept it just now
        if pattern is None:
            raise
        await _count(session, pattern, own)
        return pattern
    await repository.add_use(
        session, PatternUseRow(pattern_id=row.id, session_id=own, tenant_id=row.tenant_id, counted=True)
    )
    await record_of(session, principal, "pattern.kept", row, after={"digest": row.digest})
    return row


async def _count(session: AsyncSession, row: PatternRow, session_id: str) -> None:
    """Count one more success, once per session."""
    use = await note_use(session, row, session_id=session_id)
    if not use.counted:
        use.counted = True
        row.success_count = PatternRow.success_count + 1
        row.updated_at = now()
        await session.flush()
        await session.refresh(row)
