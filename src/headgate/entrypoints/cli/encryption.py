"""`headgate encryption`."""

from typing import Annotated

import typer

from headgate.entrypoints.cli.output import JsonFlag, console, print_json, print_result, when
from headgate.entrypoints.cli.session import acting, with_installation
from headgate.entrypoints.installation import Installation
from headgate.features.encryption import service
from headgate.features.encryption.schemas import EncryptionOut

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Encryption of files and conversations at rest: turn it on and off, destroy keys.",
)


async def _shown(installation: Installation) -> EncryptionOut:
    async with installation.database.reading() as session:
        always = installation.settings.storage.encrypt
        return EncryptionOut.of(await service.encryption_of(session, acting(), always=always))


def _show(state: EncryptionOut, *, json: bool) -> None:
    if json:
        print_json(state.model_dump(mode="json"))
        return
    if not state.encrypted:
        console.print("New files and conversations are stored unencrypted. Turn it on: headgate encryption enable")
    elif state.since is None:
        console.print("New files and conversations are encrypted. Nothing was stored yet.")
    else:
        console.print(f"New files and conversations are encrypted since {when(state.since)}.", markup=False)
    if state.destroyed_at is not None:
        console.print(f"Data keys were destroyed on {when(state.destroyed_at)}.", markup=False)


@app.command()
def status(json: JsonFlag = False) -> None:
    """Show whether new files and conversations of the organisation are encrypted, and since when."""
    _show(with_installation(_shown), json=json)


@app.command()
def enable(json: JsonFlag = False) -> None:
    """Encrypt new files and conversations of the organisation. What is stored already stays as it is and readable."""

    async def work(installation: Installation) -> EncryptionOut:
        async with installation.database.writing() as session:
            await service.enable(session, acting(), installation.box)
        return await _shown(installation)

    _show(with_installation(work), json=json)


@app.command()
def disable(json: JsonFlag = False) -> None:
    """Store new files and conversations unencrypted again. What is encrypted stays so, and readable."""

    async def work(installation: Installation) -> EncryptionOut:
        async with installation.database.writing() as session:
            await service.disable(session, acting(), always=installation.settings.storage.encrypt)
        return await _shown(installation)

    _show(with_installation(work), json=json)


@app.command()
def destroy(
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    json: JsonFlag = False,
) -> None:
    """Destroy the data keys of the organisation: what they encrypted can never be read again. No command undoes it."""
    warning = "Every encrypted file and conversation of the organisation becomes unreadable. Continue?"
    if not yes and not typer.confirm(warning):
        raise typer.Abort

    async def work(installation: Installation) -> int:
        async with installation.database.writing() as session:
            return await service.destroy(session, acting())

    count = with_installation(work)
    print_result({"destroyed": count}, f"Destroyed {count} data key(s).", json=json, markup=False)
