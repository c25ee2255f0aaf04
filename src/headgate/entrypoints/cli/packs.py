"""`headgate packs`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from headgate.entrypoints.cli.component_checks import reach_lines
from headgate.entrypoints.cli.output import JsonFlag, console, print_json, print_result, print_rows, when
from headgate.entrypoints.cli.session import acting, with_parts
from headgate.entrypoints.compose import Parts
from headgate.features.flows.packs.contents import check_contents, reach_of, require_declared
from headgate.features.flows.packs.schemas import FlowUpdatedOut, PackOut, PackPreviewOut, SignerIn, SignerOut
from headgate.features.flows.packs.service import Consent
from headgate.features.flows.packs.trials import read_cases, run_cases
from headgate.features.packs.archive import Pack, read_pack
from headgate.features.packs.building import as_wheel, build_pack, new_key, read_key
from headgate.features.packs.errors import BadPack
from headgate.features.packs.manifest import MOST_ARCHIVE_BYTES
from headgate.features.packs.scaffold import new_pack
from headgate.foundation.checked import checked
from headgate.foundation.errors import Invalid
from headgate.foundation.signing import EvidenceKey

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Packs: signed offline extensions. Create, build, test, install, upgrade and remove them.",
)
Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder with pack.toml.")]
File = Annotated[Path, typer.Argument(metavar="FILE", help="Archive (.hgpack) or wheel (.whl).")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the pack.")]
Trust = Annotated[
    str, typer.Option("--trust", metavar="KEY", help="Trust this signing key from now on; compare it first.")
]
Unsigned = Annotated[bool, typer.Option("--allow-unsigned", help="Accept a pack without a signature.")]


class TestsFailed(Invalid):
    """Tests of a pack failed."""

    code = "pack_tests_failed"
    title = "Tests failed"


@app.command()
def new(
    name: Name,
    folder: Annotated[Path, typer.Option("--in", help="Where to create its folder.")] = Path(),
    json: JsonFlag = False,
) -> None:
    """Create the folder of a pack that passes its own tests."""
    target = new_pack(name, folder)
    text = f"Created {target}. Next: headgate packs test {target}"
    print_result({"folder": str(target)}, text, json=json, markup=False)


@app.command()
def key(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="New file for the private key.")], json: JsonFlag = False
) -> None:
    """Create a key that signs packs, and print its public half for operators."""
    made = new_key(file).key
    text = f"Key {made.key_id} is in {file}; keep it secret.\nPublic key: {made.public_key}"
    print_result({"key_id": made.key_id, "public_key": made.public_key}, text, json=json, markup=False)


@app.command()
def build(
    folder: Folder,
    key: Annotated[Path | None, typer.Option("--key", help="Private key that signs it. Default: unsigned.")] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the archive.")] = Path(),
    wheel: Annotated[
        bool, typer.Option("--wheel", help="Write a wheel, for package indexes and their mirrors.")
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Build the archive of a pack. Nothing in it is executed."""
    manifest, archive = build_pack(folder, read_key(key) if key is not None else None)
    pack = read_pack(archive)
    require_declared(pack)
    name, content = as_wheel(manifest, archive) if wheel else (f"{manifest.name}-{manifest.version}.hgpack", archive)
    try:
        (out / name).write_bytes(content)
    except OSError as error:
        raise BadPack(f"{out / name} cannot be written: {error.strerror}", remedy="Choose another folder.") from error
    signed = f"signed with key {pack.signer.key_id}" if pack.signer else "not signed"
    text = f"Built {out / name}, {signed}."
    print_result(
        {"file": str(out / name), "digest": pack.digest, "key_id": _key_id(pack)}, text, json=json, markup=False
    )


@app.command("test")
def try_(folder: Folder, json: JsonFlag = False) -> None:
    """Check a pack's folder as an installation would, and run the cases in its tests folder in the sandbox."""
    _, archive = build_pack(folder)
    pack, cases = read_pack(archive), read_cases(folder)

    async def work(parts: Parts) -> list[str]:
        tenant = acting().tenant_id
        contents = await check_contents(pack, parts.checker, tenant, parts.registry)
        return await run_cases(cases, contents.components, parts.services.code, tenant)

    failures = with_parts(work)
    if failures:
        raise TestsFailed(f"{len(failures)} of {len(cases)} tests failed: {' '.join(failures)}")
    print_result({"cases": len(cases), "failures": []}, f"{len(cases)} tests passed.", json=json, markup=False)


@app.command()
def inspect(file: File, json: JsonFlag = False) -> None:
    """Show what an archive contains and may access, and who signed it. Nothing in it is executed."""
    pack = read_pack(_content(file))
    manifest, reach = pack.manifest, reach_of(pack)
    if json:
        signer = pack.signer.model_dump() if pack.signer else None
        print_json(
            {
                **manifest.model_dump(mode="json"),
                "digest": pack.digest,
                "signer": signer,
                "reach": reach.as_json(),
                "skills": pack.texts("skills"),
            }
        )
        return
    lines = [f"{manifest.title}: {manifest.name} {manifest.version}", manifest.description, _signed(pack.signer)]
    lines += [f"Contains: {', '.join(sorted(manifest.files))}", f"Digest: {pack.digest}"]
    for line in [
        *lines,
        *reach_lines({**reach.as_json(), "secrets": []})[:1],
        *reach_lines({**reach.as_json(), "secrets": []})[2:],
    ]:
        console.print(line, markup=False)
    for name, text in pack.texts("skills").items():
        console.print(f"Skill {name}, instructions for the development agent:\n{text}", markup=False)


@app.command()
def install(file: File, trust: Trust = "", allow_unsigned: Unsigned = False, json: JsonFlag = False) -> None:
    """Install a pack for all spaces, offline. Its signing key must be trusted."""
    content = _content(file)

    async def work(parts: Parts) -> PackPreviewOut:
        consent = Consent(trust, unsigned=allow_unsigned)
        return PackPreviewOut.of(await parts.packs.install(acting(), content, consent), acting())

    _show(with_parts(work), "Installed", json=json)


@app.command()
def upgrade(
    file: File,
    trust: Trust = "",
    allow_unsigned: Unsigned = False,
    allow_breaking: Annotated[
        bool, typer.Option("--allow-breaking", help="Upgrade although flows would not be ready with the new code.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Rehearse only: show changes and flows.")] = False,
    json: JsonFlag = False,
) -> None:
    """Replace an installed pack by a newer version, after a rehearsal with the flows that use it.

    Flows keep the code that they contain until `headgate packs update` replaces it in their draft.
    """
    content = _content(file)
    name = read_pack(content).manifest.name

    async def work(parts: Parts) -> PackPreviewOut:
        if dry_run:
            return PackPreviewOut.of(await parts.packs.preview(acting(), content), acting())
        consent = Consent(trust, unsigned=allow_unsigned, breaking=allow_breaking)
        return PackPreviewOut.of(await parts.packs.upgrade(acting(), name, content, consent), acting())

    _show(with_parts(work), "Rehearsed" if dry_run else "Upgraded", json=json)


@app.command("list")
def list_(json: JsonFlag = False) -> None:
    """List the installed packs with their signer, what they may access, and the flows that use them."""

    async def work(parts: Parts) -> list[PackOut]:
        return [PackOut.of(entry, acting()) for entry in await parts.packs.entries(acting())]

    packs = with_parts(work)
    print_rows(
        [pack.model_dump(mode="json") for pack in packs],
        ("pack", "version", "signed by", "hosts", "parts", "flows", "installed"),
        [
            (
                pack.name,
                pack.version,
                pack.signer.name if pack.signer else pack.key_id or "not signed",
                ", ".join(pack.reach.hosts) or "none",
                ", ".join(part.name for part in pack.parts),
                len(pack.flows) + pack.other_flows,
                when(pack.installed_at),
            )
            for pack in packs
        ],
        json=json,
        none="No packs are installed. Install one: headgate packs install FILE",
    )


@app.command()
def remove(name: Name, json: JsonFlag = False) -> None:
    """Remove a pack. Refused while flows use it."""

    async def work(parts: Parts) -> None:
        await parts.packs.remove(acting(), name)

    with_parts(work)
    print_result({"name": name, "removed": True}, f"Removed {name}.", json=json, markup=False)


@app.command()
def update(
    flow: Annotated[str, typer.Argument(metavar="FLOW", help="Id of the flow.")], json: JsonFlag = False
) -> None:
    """Replace code of earlier pack versions in a flow's draft by the installed code. It can be undone."""

    async def work(parts: Parts) -> FlowUpdatedOut:
        async with parts.database.writing() as session:
            row = await parts.packs.update_flow(session, acting(), flow)
            return FlowUpdatedOut(flow_id=row.id, revision=row.revision)

    updated = with_parts(work)
    print_result(updated.model_dump(), f"The draft is revision {updated.revision}.", json=json, markup=False)


@app.command()
def signers(json: JsonFlag = False) -> None:
    """List the signing keys that are trusted."""

    async def work(parts: Parts) -> list[SignerOut]:
        return [SignerOut.model_validate(signer) for signer in await parts.packs.signers(acting())]

    keys = with_parts(work)
    print_rows(
        [signer.model_dump(mode="json") for signer in keys],
        ("key", "name", "public key", "trusted"),
        [(signer.key_id, signer.name, signer.public_key, when(signer.trusted_at)) for signer in keys],
        json=json,
        none="No signing keys are trusted.",
    )


@app.command()
def trust(
    public_key: Annotated[str, typer.Argument(metavar="PUBLIC_KEY", help="The author's public key in base64.")],
    name: Annotated[str, typer.Option("--name", help="Whose key it is.")],
    json: JsonFlag = False,
) -> None:
    """Trust the signing key of an author."""
    signer = checked(SignerIn, public_key=public_key, name=name)

    async def work(parts: Parts) -> EvidenceKey:
        return await parts.packs.trust(acting(), signer.public_key, signer.name)

    made = with_parts(work)
    print_result(
        {"key_id": made.key_id, "name": name}, f"Packs of key {made.key_id} are trusted.", json=json, markup=False
    )


@app.command()
def distrust(
    key_id: Annotated[str, typer.Argument(metavar="KEY", help="Id of the key.")], json: JsonFlag = False
) -> None:
    """Trust a signing key no longer. Installed packs stay."""

    async def work(parts: Parts) -> None:
        await parts.packs.distrust(acting(), key_id)

    with_parts(work)
    print_result({"key_id": key_id, "trusted": False}, f"Key {key_id} is no longer trusted.", json=json, markup=False)


def _content(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.read(MOST_ARCHIVE_BYTES + 1)
    except OSError as error:
        raise BadPack(f"{file} cannot be read: {error.strerror}", remedy="Name the file of the pack.") from error


def _key_id(pack: Pack) -> str | None:
    return pack.signer.key_id if pack.signer else None


def _signed(signer: EvidenceKey | None) -> str:
    return f"Signed with key {signer.key_id}: {signer.public_key}" if signer else "Not signed."


def _show(preview: PackPreviewOut, done: str, *, json: bool) -> None:
    if json:
        print_json(preview.model_dump(mode="json"))
        return
    for line in _lines(preview, done):
        console.print(line, markup=False)


def _lines(preview: PackPreviewOut, done: str) -> Sequence[str]:
    before = f" (was {preview.installed})" if preview.installed else ""
    signer = preview.signer.name if preview.signer else preview.key_id
    lines = [f"{done} {preview.name} {preview.version}{before}.", f"Signed by {signer}." if signer else "Not signed."]
    lines += [f"Contains: {', '.join(part.name for part in preview.parts)}", *reach_lines(preview.reach.model_dump())]
    lines += preview.changes
    for flow in preview.flows:
        outcome = f"would not be ready: {' '.join(flow.problems)}" if flow.problems else "would be ready"
        lines.append(f"Flow '{flow.flow}' {outcome}.".replace("..", "."))
    if preview.other_flows:
        lines.append(
            f"{preview.other_flows} flows of other organisations use it; {preview.other_breaking} would break."
        )
    return lines
