"""HTTP routes of packs."""

from typing import Annotated, Literal

from fastapi import Path

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.flows.packs.schemas import (
    FlowUpdatedOut,
    PackFileIn,
    PackIn,
    PackOut,
    PackPreviewOut,
    PackWordsOut,
    SignerIn,
    SignerOut,
)
from headgate.features.flows.packs.service import Packs
from headgate.features.packs import repository
from headgate.foundation.api import Page, ReadSession, Routes, WriteSession, part

router = Routes(prefix="/packs", tags=["packs"])
_MANAGE = [needs(Permission.PACKS_MANAGE)]


PacksOf = Annotated[Packs, part("packs")]
PackName = Annotated[str, Path(max_length=40)]


@router.get("", "List packs", _MANAGE, problems=(403,))
async def list_(caller: Caller, packs: PacksOf) -> Page[PackOut]:
    """List the installed packs with their signer, what they may access, and the flows that use them."""
    return Page(items=[PackOut.of(entry, caller) for entry in await packs.entries(caller)])


@router.post("/preview", "Preview a pack", _MANAGE, problems=(403, 409))
async def preview(body: PackFileIn, caller: Caller, packs: PacksOf) -> PackPreviewOut:
    """Check an archive and return what installing it would do; for an installed pack with the rehearsal of the upgrade.

    Nothing is stored. Its components are described and tried in the sandbox.
    """
    return PackPreviewOut.of(await packs.preview(caller, body.archive()), caller)


@router.post("", "Install a pack", _MANAGE, status_code=201, problems=(403, 409))
async def install(body: PackIn, caller: Caller, packs: PacksOf) -> PackPreviewOut:
    """Install a pack from its archive, for all spaces."""
    return PackPreviewOut.of(await packs.install(caller, body.archive(), body.consent()), caller)


@router.get("/signers", "List trusted signing keys", _MANAGE, problems=(403,))
async def signers(caller: Caller, packs: PacksOf) -> Page[SignerOut]:
    """List the signing keys of authors that are trusted."""
    return Page(items=[SignerOut.model_validate(signer) for signer in await packs.signers(caller)])


@router.post("/signers", "Trust a signing key", _MANAGE, problems=(403,))
async def trust(body: SignerIn, caller: Caller, packs: PacksOf) -> None:
    """Trust the signing key of an author."""
    await packs.trust(caller, body.public_key, body.name)


@router.delete("/signers/{key}", "Remove a signing key", _MANAGE, problems=(403, 404))
async def distrust(key: Annotated[str, Path(max_length=16)], caller: Caller, packs: PacksOf) -> None:
    """Trust a signing key no longer. Installed packs stay."""
    await packs.distrust(caller, key)


@router.get("/words/{language}", "Translations of packs", [needs(Permission.CATALOG_VIEW)])
async def words(language: Literal["sv"], session: ReadSession) -> PackWordsOut:
    """Translations of the texts of installed packs, such as names of components and templates."""
    merged: dict[str, str] = {}
    for item in await repository.list_pack_items(session, "translation"):
        if item.content["language"] == language:
            merged |= item.content["words"]
    return PackWordsOut(words=merged)


@router.put("/{pack}", "Upgrade a pack", _MANAGE, problems=(403, 404, 409))
async def upgrade(pack: PackName, body: PackIn, caller: Caller, packs: PacksOf) -> PackPreviewOut:
    """Replace a pack by a newer version. Flows keep the code that they contain until their draft is updated."""
    return PackPreviewOut.of(await packs.upgrade(caller, pack, body.archive(), body.consent()), caller)


@router.delete("/{pack}", "Remove a pack", _MANAGE, problems=(403, 404, 409))
async def remove(pack: PackName, caller: Caller, packs: PacksOf) -> None:
    """Remove a pack. Refused while a draft or a published version uses it."""
    await packs.remove(caller, pack)


@router.post(
    "/flows/{flow_id}/update",
    "Update a draft to the installed packs",
    [needs(Permission.FLOWS_EDIT)],
    problems=(403, 404),
)
async def update_flow(flow_id: str, session: WriteSession, caller: Caller, packs: PacksOf) -> FlowUpdatedOut:
    """Replace code of earlier versions of packs in a draft by the installed code. It can be undone."""
    row = await packs.update_flow(session, caller, flow_id)
    return FlowUpdatedOut(flow_id=row.id, revision=row.revision)
