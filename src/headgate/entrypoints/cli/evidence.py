"""`headgate evidence`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from headgate.entrypoints.cli.exit_codes import FAILED, OK
from headgate.entrypoints.cli.output import JsonFlag, console, print_json, print_result
from headgate.entrypoints.cli.session import with_installation
from headgate.entrypoints.installation import Installation
from headgate.features.keyring.service import signing_keys
from headgate.features.runs.evidence.verify import Verdict, verify
from headgate.foundation.errors import Invalid, NotFound
from headgate.foundation.key_history import KeyHistory, history_document, read_history
from headgate.foundation.signing import EvidenceKey, read_public_key

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Verify evidence of a run or session offline; print the signing key.",
)


class FileMissing(NotFound):
    """The file does not exist."""

    code = "local_file_missing"
    title = "Not found"


@app.command("verify")
def verify_(
    file: Annotated[Path, typer.Argument(help="Evidence of a run (JSON or zip) or of a development session.")],
    key: Annotated[
        str | None, typer.Option(help="Public key that must have signed it, in base64, or a file that contains it.")
    ] = None,
    keys: Annotated[
        Path | None, typer.Option(help="Key history; one of its keys must have signed it while the key was valid.")
    ] = None,
    json: JsonFlag = False,
) -> int:
    """Verify evidence of a run or session: its format, hash chain, artifacts and signature.

    Needs no server, no database and no network. Exit code 0: everything holds. 1: something was changed; each fault is
    named. 3: the file is no evidence. 4: there is no such file.
    """
    trusted_key, history = trusted(key, keys)
    verdict = verify(_content(file), trusted_key, history)
    if json:
        print_json(_as_json(verdict))
    else:
        _show(verdict, checked_key=trusted_key is not None or history is not None)
    return OK if verdict.good else FAILED


@app.command()
def key(json: JsonFlag = False) -> None:
    """Print the public key that signs this installation's evidence. It is created if there is none."""
    current_key = with_installation(_current_key)
    print_result(current_key, current_key.public_key, json=json, markup=False)


@app.command("keys")
def keys_() -> None:
    """Print the history of this installation's signing keys, signed by the current one.

    Give it to those who check evidence: `headgate evidence verify FILE --keys HISTORY`.
    """

    async def work(installation: Installation) -> bytes:
        async with installation.database.reading() as session:
            records = await signing_keys(session, installation.ring)
        return history_document(installation.evidence_signer.signer(), records)

    console.print(with_installation(work).decode(), markup=False, soft_wrap=True)


def trusted(key: str | None, keys: Path | None) -> tuple[EvidenceKey | None, KeyHistory | None]:
    """Return the trusted key or history; a history together with a key must be signed by it.

    Raises `FileMissing`, `Invalid`.
    """
    trusted_key = None if key is None else wanted_key(key)
    if keys is None:
        return trusted_key, None
    return None, read_history(_content(keys).strip(), trusted_key)


async def _current_key(installation: Installation) -> EvidenceKey:
    return installation.evidence_signer.signer().key


def wanted_key(given: str) -> EvidenceKey:
    """Return the given key: in base64, or from a file. Raises `FileMissing`, `Invalid`."""
    path = Path(given)
    if path.suffix and not _is_file(path):  # base64 has no dot: a file is meant
        raise FileMissing(f"There is no file {path}.", remedy="Print the key with `headgate evidence key`.")
    return read_public_key(_content(path).decode(errors="replace") if _is_file(path) else given)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a key is too long for a name, or is none
        return False


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise FileMissing(f"There is no file {path}.", remedy="Check the path.") from error
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror}.", remedy="Check its permissions.") from error


def _as_json(verdict: Verdict) -> dict[str, object]:
    return {
        "verified": verdict.good,
        "kind": verdict.kind,
        "run_id": verdict.run_id,
        "status": verdict.status,
        "steps": verdict.steps,
        "artifacts_checked": verdict.artifacts_checked,
        "key_id": verdict.key_id,
        "faults": [{"where": fault.where, "what": fault.what} for fault in verdict.faults],
        "notes": verdict.notes,
    }


def _show(verdict: Verdict, *, checked_key: bool) -> None:
    for fault in verdict.faults:
        console.print(f"[red]✗[/] {escape(str(fault))}")
    for note in verdict.notes:
        console.print(f"[yellow]![/] {escape(note)}")
    if not verdict.good:
        console.print("[red]The evidence does not match its signature: it was changed.[/]")
        return
    if verdict.kind != "run":
        entries = f"{verdict.steps} {'entry' if verdict.steps == 1 else 'entries'}"
        name = f"{verdict.kind.capitalize()} {escape(verdict.run_id)} ({escape(verdict.status)})"
        console.print(f"[green]✓[/] {name}: {entries}, the chain is valid.")
        _show_key(verdict, checked_key=checked_key)
        return
    counted = f"{_counted(verdict.steps, 'step')}, {_counted(verdict.artifacts_checked, 'artifact')} inspected"
    console.print(f"[green]✓[/] Run {escape(verdict.run_id)} ({escape(verdict.status)}): {counted}, valid chain.")
    _show_key(verdict, checked_key=checked_key)


def _show_key(verdict: Verdict, *, checked_key: bool) -> None:
    signed = f"[green]✓[/] Signed by key {escape(verdict.key_id)}"
    console.print(signed + ("." if checked_key else "; use --key or --keys to require a key that you trust."))


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
