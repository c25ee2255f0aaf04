"""API schemas of packs."""

import base64
import binascii
from datetime import datetime
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field

from headgate.features.access.principal import Principal
from headgate.features.flows.packs.service import Consent, PackEntry, Preview
from headgate.features.flows.packs.uses import FlowUse
from headgate.features.packs.errors import BadPack
from headgate.features.packs.manifest import MOST_ARCHIVE_BYTES
from headgate.features.packs.tables import PackItem
from headgate.foundation.names import Name
from headgate.foundation.shaped import shaped
from headgate.graph.manifest import Manifest

_MOST_TEXT = MOST_ARCHIVE_BYTES * 4 // 3 + 8


class PackFileIn(BaseModel):
    """The archive of a pack."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    content: str = Field(max_length=_MOST_TEXT, description="The archive in base64, at most 2 MiB.")

    def archive(self) -> bytes:
        """Return the bytes. Raises `BadPack`."""
        try:
            return base64.b64decode(self.content, validate=True)
        except (binascii.Error, ValueError) as error:
            raise BadPack("it is not base64", remedy="Send the file in base64.") from error


class PackIn(PackFileIn):
    """A pack to install, with what the operator agrees to."""

    trust: str = Field(default="", max_length=16, description="Id of the signing key to trust from now on.")
    allow_unsigned: bool = Field(default=False, description="Install a pack without a signature.")
    allow_breaking: bool = Field(
        default=False, description="Upgrade although flows would not be ready with the new code."
    )

    def consent(self) -> Consent:
        """Return what the operator agrees to."""
        return Consent(self.trust, unsigned=self.allow_unsigned, breaking=self.allow_breaking)


class SignerOut(BaseModel):
    """A signing key."""

    model_config = ConfigDict(from_attributes=True)

    key_id: str
    public_key: str = Field(description="The 32 bytes in base64.")
    name: str
    trusted_at: datetime


class SignerIn(BaseModel):
    """A signing key to trust."""

    model_config = ConfigDict(extra="forbid")

    public_key: str = Field(max_length=100, description="Ed25519 public key of the author: 32 bytes in base64.")
    name: Annotated[Name, Field(max_length=100)]


class PackReachOut(BaseModel):
    """What the components of a pack may access; enforced by the sandbox."""

    imports: list[str]
    hosts: list[str] = Field(description="Hosts that they connect to, where the operator allows them.")
    files: bool = Field(description="Whether they use files of runs.")
    secrets: list[str] = Field(description="Secret fields, as `Component.field`.")


class PackPartOut(BaseModel):
    """A part of a pack."""

    kind: str = Field(description="component, template, connection, skill or translation.")
    name: str
    text: str = Field(default="", description="Of a skill: the instructions that the development agent gets.")


class PackFlowOut(BaseModel):
    """A flow that uses a pack."""

    flow_id: str
    flow: str = Field(description="Name of the flow.")
    published: bool = Field(description="Whether the published version uses it.")
    outdated: bool = Field(description="Whether the draft has code of an earlier version.")
    problems: list[str] = Field(description="Why it would not be ready with the new code.")


class PackOut(BaseModel):
    """An installed pack."""

    name: str
    version: str
    title: str
    description: str
    author: str | None
    digest: str = Field(description="SHA-256 of the manifest, which identifies the content.")
    key_id: str | None = Field(description="The key that signed it; null: unsigned.")
    signer: SignerOut | None = Field(description="That key, while it is trusted.")
    installed_at: datetime
    parts: list[PackPartOut]
    reach: PackReachOut
    flows: list[PackFlowOut] = Field(description="Flows that you may view and that use it.")
    other_flows: int = Field(description="Number of other flows that use it.")

    @classmethod
    def of(cls, entry: PackEntry, principal: Principal) -> Self:
        """Return the public form for a caller."""
        row, manifest = entry.row, entry.row.manifest
        seen = [use for use in entry.uses if use.seen_by(principal)]
        return shaped(
            cls,
            row,
            title=manifest["title"],
            description=manifest["description"],
            author=manifest["author"],
            signer=SignerOut.model_validate(entry.signer) if entry.signer else None,
            parts=[_part(item) for item in entry.items],
            reach=_reach(entry.reach, entry.secrets),
            flows=[_flow(use, outdated=not use.in_draft <= entry.current) for use in seen],
            other_flows=len(entry.uses) - len(seen),
        )


class PackPreviewOut(BaseModel):
    """What installing an archive would do."""

    name: str
    version: str
    title: str
    description: str
    author: str | None
    digest: str
    installed: str | None = Field(description="The installed version; null: it would be new.")
    key_id: str | None = Field(description="The key that signed it; null: unsigned.")
    public_key: str | None
    signer: SignerOut | None = Field(description="That key, when it is trusted.")
    parts: list[PackPartOut]
    reach: PackReachOut
    changes: list[str] = Field(description="What an upgrade changes in components.")
    flows: list[PackFlowOut] = Field(description="Flows that you may view and that use the installed version.")
    other_flows: int
    other_breaking: int = Field(description="Number of other flows that would not be ready with the new code.")

    @classmethod
    def of(cls, preview: Preview, principal: Principal) -> Self:
        """Return the public form for a caller."""
        pack = preview.pack
        seen = [flow for flow in preview.flows if flow.use.seen_by(principal)]
        others = [flow for flow in preview.flows if not flow.use.seen_by(principal)]
        items = [PackItem(**item) for item in preview.contents.items()]
        return cls(
            **pack.manifest.model_dump(include={"name", "version", "title", "description", "author"}),
            digest=pack.digest,
            installed=preview.installed,
            key_id=pack.signer.key_id if pack.signer else None,
            public_key=pack.signer.public_key if pack.signer else None,
            signer=SignerOut.model_validate(preview.signer) if preview.signer else None,
            parts=[_part(item) for item in items],
            reach=_reach(preview.reach, preview.secrets),
            changes=list(preview.changes),
            flows=[_flow(flow.use, problems=flow.problems) for flow in seen],
            other_flows=len(others),
            other_breaking=sum(bool(flow.problems) for flow in others),
        )


class FlowUpdatedOut(BaseModel):
    """A draft after an update of its pack components."""

    flow_id: str
    revision: int


class PackWordsOut(BaseModel):
    """Translations of installed packs."""

    words: dict[str, str] = Field(description="English text to its translation.")


def _reach(manifest: Manifest, secrets: tuple[str, ...]) -> PackReachOut:
    return PackReachOut(
        imports=list(manifest.imports), hosts=list(manifest.hosts), files=manifest.files, secrets=list(secrets)
    )


def _flow(use: FlowUse, *, outdated: bool = False, problems: tuple[str, ...] = ()) -> PackFlowOut:
    return PackFlowOut(
        flow_id=use.flow_id,
        flow=use.name,
        published=bool(use.in_published),
        outdated=outdated,
        problems=list(problems),
    )


def _part(item: PackItem) -> PackPartOut:
    content = item.content
    name = str(content.get("type") or content.get("language") or item.key)
    return PackPartOut(kind=item.kind, name=name, text=str(content["text"]) if item.kind == "skill" else "")
