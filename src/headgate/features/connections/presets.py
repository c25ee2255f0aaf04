"""Connection kinds of packs: a built-in kind with prepared values.

A connection that was added with one is a connection of the built-in kind: it needs the pack no longer.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.connections.catalogue import KINDS
from headgate.features.connections.errors import BadConnection
from headgate.features.connections.kinds import Kind
from headgate.features.connections.values import checked_value, kind_named
from headgate.features.packs import repository
from headgate.features.packs.manifest import ConnectionPreset
from headgate.foundation.errors import HeadgateError


@dataclass(frozen=True, slots=True)
class OfferedKind:
    """A kind that users choose from."""

    id: str
    kind: Kind
    """Its id is that of the built-in kind."""


def kind_of(preset: ConnectionPreset) -> Kind:
    """Return the built-in kind with the label and values of a preset. Raises `BadConnection` for unknown fields."""
    base = kind_named(preset.kind)
    if base.admins_only:
        raise BadConnection(f"A pack cannot prepare connections of the kind {base.id}.", remedy="Use another kind.")
    for name, value in preset.fields.items():
        checked_value(base, name, value)
    fields = tuple(
        replace(field, default=preset.fields[field.name]) if field.name in preset.fields else field
        for field in base.fields
    )
    return replace(base, label=preset.label, description=preset.description, keywords=preset.keywords, fields=fields)


async def offered_kinds(session: AsyncSession) -> list[OfferedKind]:
    """Return the built-in kinds and those of the installed packs."""
    built_in = [OfferedKind(id_, kind) for id_, kind in KINDS.items()]
    return [*built_in, *await _of_packs(session)]


async def offered_kind(session: AsyncSession, id_: str) -> Kind:
    """Return the kind for a new connection. Raises `BadConnection`."""
    packed = await _of_packs(session, id_) if "." in id_ else ()
    return packed[0].kind if packed else kind_named(id_)


async def _of_packs(session: AsyncSession, id_: str | None = None) -> Sequence[OfferedKind]:
    """Return those of packs; one that this version of Headgate no longer supports is skipped."""
    kinds = []
    for item in await repository.list_pack_items(session, "connection", id_):
        try:
            kinds.append(OfferedKind(item.key, kind_of(ConnectionPreset.model_validate(item.content))))
        except (HeadgateError, ValueError):
            continue
    return kinds
