"""Queries on installed packs."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from sqlalchemy import delete, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.packs.tables import PackComponent, PackItem, PackRow, PackSigner
from headgate.foundation.database import insert_into, now

ItemKind = Literal["component", "template", "connection", "translation", "skill"]


async def list_packs(session: AsyncSession) -> Sequence[PackRow]:
    """Return the installed packs by name."""
    return (await session.execute(select(PackRow).order_by(PackRow.name))).scalars().all()


async def find_pack(session: AsyncSession, name: str, *, lock: bool = False) -> PackRow | None:
    """Return a pack; locked until the transaction ends with `lock`."""
    query = select(PackRow).where(PackRow.name == name)
    return (await session.execute(query.with_for_update() if lock else query)).scalar_one_or_none()


async def add_pack(session: AsyncSession, **values: Any) -> bool:  # noqa: ANN401 - columns
    """Add a pack; False when one of that name is installed."""
    statement = insert_into(session, PackRow).values({**values, "installed_at": now()})
    return (
        await session.execute(statement.on_conflict_do_nothing().returning(PackRow.name))
    ).scalar_one_or_none() is not None


async def change_pack(session: AsyncSession, name: str, **values: Any) -> None:  # noqa: ANN401 - columns
    """Replace the columns of a pack, and remove its items."""
    await session.execute(update(PackRow).where(PackRow.name == name).values({**values, "installed_at": now()}))
    await session.execute(delete(PackItem).where(PackItem.pack == name))


async def remove_pack(session: AsyncSession, name: str) -> None:
    """Delete a pack and its items. The facts about its code stay."""
    await session.execute(delete(PackItem).where(PackItem.pack == name))
    await session.execute(delete(PackRow).where(PackRow.name == name))


async def add_pack_items(session: AsyncSession, items: Sequence[Mapping[str, Any]]) -> list[str]:
    """Add items; returns the keys that other packs have."""
    taken = []
    for item in items:
        statement = insert_into(session, PackItem).values(item).on_conflict_do_nothing().returning(PackItem.key)
        if (await session.execute(statement)).scalar_one_or_none() is None:
            taken.append(str(item["key"]))
    return taken


async def list_pack_items(session: AsyncSession, kind: ItemKind, key: str | None = None) -> Sequence[PackItem]:
    """Return the items of a kind, or the one with that key, by key."""
    query = select(PackItem).where(PackItem.kind == kind).order_by(PackItem.key)
    return (await session.execute(query if key is None else query.where(PackItem.key == key))).scalars().all()


async def list_items_of_pack(session: AsyncSession, pack: str) -> Sequence[PackItem]:
    """Return the items of a pack, by kind and key."""
    query = select(PackItem).where(PackItem.pack == pack).order_by(PackItem.kind, PackItem.key)
    return (await session.execute(query)).scalars().all()


async def add_pack_component(session: AsyncSession, **values: Any) -> None:  # noqa: ANN401 - columns
    """Store the facts about code, unless they are known."""
    await session.execute(insert_into(session, PackComponent).values(values).on_conflict_do_nothing())


async def list_pack_components(session: AsyncSession, hashes: Collection[str]) -> Sequence[PackComponent]:
    """Return the facts about code with these hashes."""
    query = select(PackComponent).where(PackComponent.code_hash.in_(hashes))
    return (await session.execute(query)).scalars().all()


async def list_current_pack_components(session: AsyncSession) -> Sequence[PackComponent]:
    """Return the components of the installed packs, by type."""
    query = (
        select(PackComponent)
        .join(PackItem, PackItem.code_hash == PackComponent.code_hash)
        .where(PackItem.kind == "component")
        .order_by(PackComponent.type)
    )
    return (await session.execute(query)).scalars().all()


async def list_pack_hashes(session: AsyncSession, pack: str) -> dict[str, PackComponent]:
    """Return everything that is known about code of a pack, also of earlier versions, by hash.

    Code that two packs share belongs to the first; what is installed of a pack is always included.
    """
    installed = select(PackItem.code_hash).where(PackItem.pack == pack, PackItem.kind == "component")
    query = select(PackComponent).where((PackComponent.pack == pack) | PackComponent.code_hash.in_(installed))
    return {row.code_hash: row for row in (await session.execute(query)).scalars()}


async def list_pack_signers(session: AsyncSession) -> Sequence[PackSigner]:
    """Return the trusted keys by name."""
    return (await session.execute(select(PackSigner).order_by(PackSigner.name, PackSigner.key_id))).scalars().all()


async def find_pack_signer(session: AsyncSession, key_id: str) -> PackSigner | None:
    """Return a trusted key."""
    return await session.get(PackSigner, key_id)


async def add_pack_signer(session: AsyncSession, *, key_id: str, public_key: str, name: str) -> bool:
    """Trust a key; False when it is trusted already."""
    values = {"key_id": key_id, "public_key": public_key, "name": name, "trusted_at": now()}
    statement = insert_into(session, PackSigner).values(values).on_conflict_do_nothing().returning(PackSigner.key_id)
    return (await session.execute(statement)).scalar_one_or_none() is not None


async def remove_pack_signer(session: AsyncSession, key_id: str) -> bool:
    """Trust a key no longer; False when it was not trusted."""
    statement = delete(PackSigner).where(PackSigner.key_id == key_id).returning(PackSigner.key_id)
    return (await session.execute(statement)).scalar_one_or_none() is not None
