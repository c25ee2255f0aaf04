"""Packs of an installation: preview, installation, upgrade with rehearsal, removal, and the keys that are trusted.

Reading an archive executes nothing. Its components run in the sandbox only, for the first time when they are checked.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import DEFAULT_TENANT_ID, Principal
from headgate.features.audit.actions import Action
from headgate.features.audit.recorder import record
from headgate.features.catalog.own.check import ComponentChecker
from headgate.features.catalog.registry import Registry
from headgate.features.flows import service as flows
from headgate.features.flows.packs.contents import Contents, check_contents, reach_of
from headgate.features.flows.packs.rehearsal import Rehearsal, Rehearsed, changes_between, updated
from headgate.features.flows.packs.uses import FlowUse, as_json, find_uses, named
from headgate.features.flows.rules import FlowRules
from headgate.features.flows.tables import FlowRow
from headgate.features.packs import repository
from headgate.features.packs.archive import Pack, read_pack
from headgate.features.packs.errors import (
    BadPack,
    NotPackOperator,
    PackBreaksFlows,
    PackInstalled,
    PackInUse,
    PackNameTaken,
    PackNotFound,
    PackNotTrusted,
    SignerNotFound,
)
from headgate.features.packs.manifest import version_key
from headgate.features.packs.tables import PackComponent, PackItem, PackRow, PackSigner
from headgate.foundation.database import Database
from headgate.foundation.flow_threads import run_in_flow_thread
from headgate.foundation.quoting import shortened
from headgate.foundation.signing import EvidenceKey, read_public_key
from headgate.graph.manifest import Manifest
from headgate.graph.template import Template


@dataclass(frozen=True, slots=True)
class PackEntry:
    """An installed pack, its parts, and the flows that use it."""

    row: PackRow
    items: tuple[PackItem, ...]
    reach: Manifest
    signer: PackSigner | None
    uses: tuple[FlowUse, ...]
    secrets: tuple[str, ...]
    """Secret fields of its components, as `Component.field`."""
    current: frozenset[str]
    """Hashes of its installed code; a flow with other code of the pack uses an earlier version."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What installing an archive would do."""

    pack: Pack
    contents: Contents
    reach: Manifest
    signer: PackSigner | None
    """The trusted key that signed it; None when it is unsigned or the key is not trusted."""
    installed: str | None = None
    """The installed version; None when there is none."""
    changes: tuple[str, ...] = ()
    flows: tuple[Rehearsed, ...] = field(default=())

    @property
    def secrets(self) -> tuple[str, ...]:
        """Return the secret fields of its components, as `Component.field`."""
        return _secrets(component.template for component in self.contents.components)

    @property
    def breaking(self) -> tuple[FlowUse, ...]:
        """Return the flows that would not be ready with the new code."""
        return tuple(flow.use for flow in self.flows if flow.problems)


@dataclass(frozen=True, slots=True)
class Consent:
    """What the operator agrees to."""

    trust: str = ""
    """Id of the signing key to trust from now on; empty: it must be trusted already."""
    unsigned: bool = False
    """Install a pack without a signature."""
    breaking: bool = False
    """Upgrade although flows would not be ready with the new code."""


@dataclass(frozen=True, slots=True)
class Packs:
    """The packs of an installation.

    Args:
        database: No transaction is open while the sandbox runs.
        checker: Checks components in the sandbox.
        rules: The readiness check.
        registry: The built-in components.
    """

    database: Database
    checker: ComponentChecker
    rules: FlowRules
    registry: Registry

    async def entries(self, principal: Principal) -> list[PackEntry]:
        """Return the installed packs by name. Raises `PermissionMissing`, `NotPackOperator`."""
        require_operator(principal)
        async with self.database.reading() as session:
            signers = {signer.key_id: signer for signer in await repository.list_pack_signers(session)}
            return [await _entry(session, row, signers) for row in await repository.list_packs(session)]

    async def preview(self, principal: Principal, content: bytes) -> Preview:
        """Return what installing an archive would do, with the rehearsal when an earlier version is installed.

        Raises `BadPack`, `PackNameTaken`, `PackInstalled`, `PermissionMissing`, `NotPackOperator`, and errors of the
        sandbox. Nothing is stored.
        """
        require_operator(principal)
        pack = await run_in_flow_thread(read_pack, content)
        contents = await check_contents(pack, self.checker, principal.tenant_id, self.registry)
        async with self.database.reading() as session:
            return await self._preview(session, contents)

    async def install(self, principal: Principal, content: bytes, consent: Consent) -> Preview:
        """Install a pack. Raises what `preview` raises, and `PackNotTrusted`."""
        return await self._write(principal, content, consent, upgrade=None)

    async def upgrade(self, principal: Principal, name: str, content: bytes, consent: Consent) -> Preview:
        """Replace an installed pack by a newer version. Flows keep the code that they contain.

        Raises what `preview` raises, `PackNotFound`, `PackNotTrusted`, and `PackBreaksFlows` without consent.
        """
        return await self._write(principal, content, consent, upgrade=name)

    async def remove(self, principal: Principal, name: str) -> None:
        """Remove a pack. Raises `PackNotFound`, `PackInUse` with the flows that use it.

        The facts about its code stay: earlier versions of flows and runs in progress contain the code.
        """
        require_operator(principal)
        async with self.database.writing() as session:
            row = await repository.find_pack(session, name, lock=True)
            if row is None:
                raise PackNotFound(name)
            uses = await find_uses(session, await repository.list_pack_hashes(session, name))
            if uses:
                raise PackInUse(
                    f"Flows use the pack {name}: {named(uses, principal)}.",
                    remedy="Remove its steps from their drafts, and publish or unpublish them. Then remove the pack.",
                    flows=as_json([use for use in uses if use.seen_by(principal)]),
                )
            await repository.remove_pack(session, name)
            await _record(session, principal, "pack.removed", row.name, before=_facts(row))

    async def update_flow(self, session: AsyncSession, principal: Principal, flow_id: str) -> FlowRow:
        """Replace code of earlier versions of packs in a draft by the installed code, as one change that can be undone.

        Raises `FlowNotFound`, `PermissionMissing`, `FlowInvalid`.
        """
        row = await flows.get_flow(session, principal, flow_id, permission=Permission.FLOWS_EDIT, lock=True)
        draft = flows.definition_of(row)
        hashes: dict[str, str] = {}
        codes: dict[str, str] = {}
        for pack in await repository.list_packs(session):
            known = await repository.list_pack_hashes(session, pack.name)
            hashes |= {key: component.type for key, component in known.items()}
        for component in await repository.list_current_pack_components(session):
            codes[component.type] = component.code
        await flows.replace_draft(session, principal, self.rules.catalog, row, updated(draft, hashes, codes))
        return row

    async def signers(self, principal: Principal) -> Sequence[PackSigner]:
        """Return the trusted signing keys. Raises `PermissionMissing`, `NotPackOperator`."""
        require_operator(principal)
        async with self.database.reading() as session:
            return await repository.list_pack_signers(session)

    async def trust(self, principal: Principal, public_key: str, name: str) -> EvidenceKey:
        """Trust a signing key. Raises `Invalid` for a malformed key, `PermissionMissing`, `NotPackOperator`."""
        require_operator(principal)
        key = read_public_key(public_key)
        async with self.database.writing() as session:
            await _trust(session, principal, key, name)
        return key

    async def distrust(self, principal: Principal, key_id: str) -> None:
        """Trust a key no longer; installed packs stay. Raises `SignerNotFound`."""
        require_operator(principal)
        async with self.database.writing() as session:
            if not await repository.remove_pack_signer(session, key_id):
                raise SignerNotFound(key_id)
            await _record(session, principal, "pack_signer.removed", key_id, before={"key_id": key_id})

    async def _write(self, principal: Principal, content: bytes, consent: Consent, *, upgrade: str | None) -> Preview:
        require_operator(principal)
        pack = await run_in_flow_thread(read_pack, content)
        if upgrade is not None and upgrade != pack.manifest.name:
            raise BadPack(f"it is {pack.manifest.name}, not {upgrade}", remedy="Choose the archive of the same pack.")
        async with self.database.reading() as session:
            await require_trusted(session, pack, consent)
        contents = await check_contents(pack, self.checker, principal.tenant_id, self.registry)
        async with self.database.reading() as session:
            preview = await self._preview(session, contents)
        if upgrade is not None and preview.installed is None:
            raise PackNotFound(upgrade)
        if upgrade is None and preview.installed is not None:
            raise _installed(pack.manifest.name, preview.installed)
        _require_consent(preview, principal, consent)
        async with self.database.writing() as session:
            row = await repository.find_pack(session, pack.manifest.name, lock=True)
            if (None if row is None else row.version) != preview.installed:
                raise _installed(pack.manifest.name, row.version if row is not None else str(preview.installed))
            await require_trusted(session, pack, consent)  # again: the key may have been removed meanwhile
            await _store(session, principal, contents, row, consent)
        return preview

    async def _preview(self, session: AsyncSession, contents: Contents) -> Preview:
        """Return the preview, with the rehearsal for an upgrade. Raises `PackInstalled`, `PackNameTaken`."""
        pack = contents.pack
        name, version = pack.manifest.name, pack.manifest.version
        row = await repository.find_pack(session, name)
        await _require_free(session, contents)
        signer = await _signer(session, pack)
        if row is None:
            return Preview(pack, contents, reach_of(pack), signer)
        if version_key(version) <= version_key(row.version):
            raise _installed(name, row.version)
        hashes = await repository.list_pack_hashes(session, name)
        current = {item.code_hash for item in await repository.list_items_of_pack(session, name)}
        old = {hashes[key].type: _template(hashes[key]) for key in current if key in hashes}
        uses = await find_uses(session, hashes)
        types = {key: component.type for key, component in hashes.items()}
        rehearsal = Rehearsal(self.rules, self.registry, types, contents.components)
        flows_used = [await rehearsal.of(session, use) for use in uses]
        changes = changes_between(old, contents.components)
        return Preview(pack, contents, reach_of(pack), signer, row.version, tuple(changes), tuple(flows_used))


def require_operator(principal: Principal) -> None:
    """Raise `PermissionMissing` or `NotPackOperator`."""
    principal.require(Permission.PACKS_MANAGE)
    if principal.tenant_id != DEFAULT_TENANT_ID:
        raise NotPackOperator


async def require_trusted(session: AsyncSession, pack: Pack, consent: Consent) -> None:
    """Raise `PackNotTrusted` unless the pack's key is trusted, or the operator agreed to this key or to none."""
    key = pack.signer
    if key is None:
        if not consent.unsigned:
            raise PackNotTrusted(
                f"The pack {pack.manifest.name} is not signed: anyone may have changed it.",
                remedy="Ask the author for a signed archive, or allow an unsigned one explicitly.",
            )
        return
    if await _signer(session, pack) is None and consent.trust != key.key_id:
        raise PackNotTrusted(
            f"The pack {pack.manifest.name} is signed with key {key.key_id}, which is not trusted.",
            remedy=f"Compare the key with the author's, then trust {key.key_id}.",
            key_id=key.key_id,
            public_key=key.public_key,
        )


def _require_consent(preview: Preview, principal: Principal, consent: Consent) -> None:
    if preview.breaking and not consent.breaking:
        raise PackBreaksFlows(
            f"With version {preview.pack.manifest.version} flows would not be ready: "
            f"{named(preview.breaking, principal)}.",
            remedy="They keep their code until they are updated. Confirm to upgrade the pack.",
            flows=as_json([use for use in preview.breaking if use.seen_by(principal)]),
        )


async def _require_free(session: AsyncSession, contents: Contents) -> None:
    """Raise `PackNameTaken` for names of other packs."""
    taken = []
    for item in contents.items():
        rows = await repository.list_pack_items(session, item["kind"], item["key"])
        taken += [f"{row.key} (pack {row.pack})" for row in rows if row.pack != contents.pack.manifest.name]
    if taken:
        raise PackNameTaken(taken)


async def _store(
    session: AsyncSession, principal: Principal, contents: Contents, row: PackRow | None, consent: Consent
) -> None:
    pack = contents.pack
    manifest = pack.manifest
    if pack.signer is not None and await _signer(session, pack) is None:
        claimed = f"{shortened(manifest.author or manifest.title, 50)} ({manifest.name})"  # the author's own claim
        await _trust(session, principal, pack.signer, claimed)
    values = {
        "version": manifest.version,
        "digest": pack.digest,
        "manifest": manifest.model_dump(mode="json"),
        "key_id": pack.signer.key_id if pack.signer else None,
    }
    before = None if row is None else _facts(row)
    if row is not None:
        await repository.change_pack(session, manifest.name, **values)
    elif not await repository.add_pack(session, name=manifest.name, **values):
        raise _installed(manifest.name, manifest.version)
    taken = await repository.add_pack_items(session, list(contents.items()))
    if taken:
        raise PackNameTaken(taken)
    for component in contents.components:
        await repository.add_pack_component(
            session,
            code_hash=component.code_hash,
            pack=manifest.name,
            version=manifest.version,
            type=component.type,
            code=component.code,
            template=component.template.model_dump(mode="json"),
            manifest=component.manifest.as_json(),
        )
    after = {"version": manifest.version, "digest": pack.digest, "key_id": values["key_id"]}
    payload = {**after, "unsigned": pack.signer is None, "despite_flows": consent.breaking}
    action: Action = "pack.installed" if row is None else "pack.upgraded"
    await _record(session, principal, action, manifest.name, before=before, after=after, payload=payload)


async def _entry(session: AsyncSession, row: PackRow, signers: Mapping[str, PackSigner]) -> PackEntry:
    items = tuple(await repository.list_items_of_pack(session, row.name))
    hashes = await repository.list_pack_hashes(session, row.name)
    current = frozenset(item.code_hash for item in items if item.code_hash)
    reaches = [hashes[key].manifest for key in current if key in hashes]
    reach = Manifest(
        imports=tuple(sorted({name for each in reaches for name in each["imports"]})),
        hosts=tuple(sorted({host for each in reaches for host in each["hosts"]})),
        files=any(each["files"] for each in reaches),
    )
    uses = tuple(await find_uses(session, hashes))
    secrets = _secrets(_template(hashes[key]) for key in current if key in hashes)
    return PackEntry(row, items, reach, signers.get(row.key_id or ""), uses, secrets, current)


async def _signer(session: AsyncSession, pack: Pack) -> PackSigner | None:
    """Return the trusted key that signed a pack: the complete key is compared."""
    if pack.signer is None:
        return None
    signer = await repository.find_pack_signer(session, pack.signer.key_id)
    return signer if signer is not None and signer.public_key == pack.signer.public_key else None


async def _trust(session: AsyncSession, principal: Principal, key: EvidenceKey, name: str) -> None:
    if await repository.add_pack_signer(session, key_id=key.key_id, public_key=key.public_key, name=name):
        after = {"key_id": key.key_id, "public_key": key.public_key, "name": name}
        await _record(session, principal, "pack_signer.added", key.key_id, after=after)


async def _record(
    session: AsyncSession,
    principal: Principal,
    action: Action,
    name: str,
    *,
    before: Mapping[str, object] | None = None,
    after: Mapping[str, object] | None = None,
    payload: Mapping[str, object] | None = None,
) -> None:
    await record(session, principal, action, id=name, name=name, before=before, after=after, payload=payload or after)


def _installed(name: str, version: str) -> PackInstalled:
    return PackInstalled(
        f"Version {version} of the pack {name} is already installed.",
        remedy="Upgrade it with a newer version, or remove it first.",
    )


def _secrets(templates: Iterable[Template]) -> tuple[str, ...]:
    named_fields = (
        f"{template.type}.{field.name}" for template in templates for field in template.fields if field.carries_secret
    )
    return tuple(sorted(named_fields))


def _template(component: PackComponent) -> Template:
    return Template.model_validate(component.template)


def _facts(row: PackRow) -> dict[str, object]:
    return {"version": row.version, "digest": row.digest, "key_id": row.key_id}
