"""`headgate keyring`."""

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.markup import escape

from headgate.entrypoints.cli.exit_codes import WAITING
from headgate.entrypoints.cli.output import JsonFlag, console, print_json, print_result, table, when
from headgate.entrypoints.cli.session import acting, with_installation, with_parts
from headgate.entrypoints.compose import Parts
from headgate.entrypoints.installation import Installation
from headgate.features.keyring import service
from headgate.features.keyring.schemas import KeyringOut
from headgate.foundation.keyring import Purpose

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Keys that encrypt secrets and sign evidence: list, rotate, retire.",
)
WAIT_SECONDS = 30.0
"""How long `rotate` waits for other processes."""
Id = Annotated[str, typer.Argument(metavar="ID", help="The key's id, as the list shows it.")]


@app.command("list")
def list_(json: JsonFlag = False) -> None:
    """List the keys, what they encrypt, and the progress of a rotation. The keys themselves are never shown."""
    entries = with_installation(_entries)
    if json:
        print_json([entry.model_dump(mode="json") for entry in entries])
    else:
        _show(entries)


@app.command()
def rotate(
    purpose: Annotated[Purpose, typer.Argument(help="What the key is for.")] = Purpose.SECRETS, json: JsonFlag = False
) -> None:
    """Create a key, use it once all processes can read it, and re-encrypt stored values. No downtime.

    Processes on machines without a shared data folder need the new file in their folder of keys first: the list shows
    which ones the rotation waits for. It continues in any server or worker when this command ends.
    """

    async def work(parts: Parts) -> tuple[str, list[KeyringOut]]:
        async with parts.database.writing() as session:
            key_id = await service.rotate(session, acting(), parts.ring, purpose)
        await parts.rotation.finish(key_id, WAIT_SECONDS)
        return key_id, await _entries(parts)

    key_id, entries = with_parts(work)
    state = next(entry for entry in entries if entry.id == key_id)
    if json:
        print_json([entry.model_dump(mode="json") for entry in entries])
    else:
        _show(entries)
    if state.waiting_for:
        if not json:
            console.print(f"Waiting for {', '.join(state.waiting_for)}. Follow it: headgate keyring list", markup=False)
        raise typer.Exit(WAITING)


@app.command()
def retire(key: Id, json: JsonFlag = False) -> None:
    """Delete an old key. Refused while stored values use it; signatures stay valid.

    Keep a copy for as long as you keep backups of the database from before.
    """

    async def work(installation: Installation) -> bool:
        return await service.retire(installation.database, acting(), installation.ring, key)

    left = with_installation(work)
    if json:
        print_json({"id": key, "left": left})
        return
    console.print(f"Retired {key}.", markup=False)
    if left:
        console.print("This machine still has it in its environment or a read-only folder: remove it there.")


@app.command()
def revoke(
    key: Id,
    reason: Annotated[str, typer.Option("--reason", help="Shown to users who verify evidence.")],
    json: JsonFlag = False,
) -> None:
    """Revoke an old signing key that may be compromised: its signatures are no longer accepted."""

    async def work(installation: Installation) -> None:
        async with installation.database.writing() as session:
            await service.revoke(session, acting(), key, reason=reason)

    with_installation(work)
    print_result(
        {"id": key, "revoked": True},
        f"Revoked {key}. Publish the new history: headgate evidence keys",
        json=json,
        markup=False,
    )


async def _entries(installation: Installation) -> list[KeyringOut]:
    async with installation.database.reading() as session:
        entries = await service.list_keys(session, acting(), installation.ring)
    return [KeyringOut.of(entry) for entry in entries]


def _show(entries: Sequence[KeyringOut]) -> None:
    rows = [(entry.id, entry.purpose, entry.state, when(entry.activated_at) or "", _uses(entry)) for entry in entries]
    console.print(table(("key", "for", "state", "current since", "stored values"), rows))
    for entry in entries:
        for key_id, count in entry.unreadable.items():
            missing = key_id or "unknown"
            console.print(
                escape(
                    f"{count} stored values cannot be encrypted again: key {missing} is missing on the machine that"
                    " tried. Copy its file into the folder of keys there."
                )
            )


def _uses(entry: KeyringOut) -> str:
    return ", ".join(f"{count} in {column}" for column, count in entry.values.items())
