"""`headgate audit`."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, BinaryIO

import typer
from rich.markup import escape

from headgate.entrypoints.cli.evidence import FileMissing, trusted
from headgate.entrypoints.cli.exit_codes import FAILED, OK
from headgate.entrypoints.cli.output import JsonFlag, console, errors, print_json, print_result, print_rows, when
from headgate.entrypoints.cli.session import acting, with_installation, with_reading
from headgate.entrypoints.installation import Installation
from headgate.features.audit import service
from headgate.features.audit.export import LONGEST_LINE, verify_export
from headgate.features.audit.repository import EventFilters
from headgate.features.audit.schemas import AuditOut, HeadOut, VerdictOut
from headgate.features.audit.service import Place
from headgate.features.audit.walk import Verdict
from headgate.foundation.errors import Invalid
from headgate.foundation.ids import is_id

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Audit log: list, export and verify who changed what."
)
Since = Annotated[datetime | None, typer.Option(help="Start time in UTC: 2026-11-21 or 2026-11-21T08:00:00.")]
Until = Annotated[datetime | None, typer.Option(help="End time in UTC, exclusive.")]


@app.command("list")
def list_(
    actor: Annotated[
        str | None, typer.Option(help="E-mail address or id of a user, or the name of a system user.")
    ] = None,
    action: Annotated[str | None, typer.Option(help="An action or its prefix, such as flow.")] = None,
    resource: Annotated[str | None, typer.Option(help="Id of the changed resource.")] = None,
    since: Since = None,
    until: Until = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Maximum number of entries.")] = 50,
    json: JsonFlag = False,
) -> None:
    """List who changed what, newest first."""
    filters = EventFilters(actor=actor, action=action, resource_id=resource, since=_utc(since), until=_utc(until))

    rows = with_reading(lambda session, _: service.list_events(session, acting(), filters, limit=limit))
    entries = [AuditOut.of(row) for row in rows]
    print_rows(
        entries,
        ("entry", "when", "who", "what"),
        [
            (
                entry.seq,
                when(entry.at),
                escape(entry.actor.name),
                escape(_in_words(entry)),
            )
            for entry in entries
        ],
        json=json,
        none="No matching entries.",
    )


@app.command()
def export(
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Output file. Default: standard output.")
    ] = None,
    csv: Annotated[bool, typer.Option("--csv", help="CSV for a spreadsheet; it cannot be verified.")] = False,
    since: Since = None,
    until: Until = None,
    json: JsonFlag = False,
) -> None:
    """Export the log, oldest first, as JSON Lines with a signed head. Verify it with `headgate audit verify FILE`."""
    if json and output is None:
        raise Invalid("The export and the JSON result cannot both go to standard output.", remedy="Use --output FILE.")

    async def work(installation: Installation) -> None:
        async with installation.database.reading() as session:
            head = await service.head_of_export(session, acting(), since=_utc(since), until=_utc(until))
        signer = None if csv else installation.evidence_signer.signer()
        with ExitStack() as stack:
            file = sys.stdout.buffer if output is None else stack.enter_context(_opened(output))
            async for piece in service.export_lines(installation.database, head, signer):
                file.write(piece)
        if json:
            print_json({"path": str(output), "entries": head.last - head.first + 1, "last": head.last})
        elif output is not None:
            errors.print(f"Wrote {head.last - head.first + 1} entries to {escape(str(output))}.")

    with_installation(work)


@app.command()
def head(json: JsonFlag = False) -> None:
    """Print the end of the log. Store it elsewhere and pass it to a later `audit verify` as `--noted`."""
    end = with_reading(lambda session, _: service.get_head(session, acting()))
    print_result(HeadOut(seq=end.seq, hash=end.hash), f"{end.seq}:{end.hash}", json=json, markup=False)


@app.command()
def verify(
    file: Annotated[Path | None, typer.Argument(help="An export in JSON Lines format. Default: this database.")] = None,
    key: Annotated[
        str | None,
        typer.Option(help="Public key that must have signed the file, in base64, or a file that contains it."),
    ] = None,
    keys: Annotated[Path | None, typer.Option(help="Key history; one of its keys must have signed the file.")] = None,
    noted: Annotated[
        str | None, typer.Option(help="Output of an earlier `headgate audit head` for this database.")
    ] = None,
    json: JsonFlag = False,
) -> int:
    """Verify every entry and link of the log. With a file, offline: no server, database or network.

    Exit code 0: everything holds. 1: something was changed; each fault is named. 3: the file is no export. 4: there is
    no such file.
    """
    verdict = _of_database(noted) if file is None else _of_file(file, key, keys)
    if json:
        print_json(VerdictOut.of(verdict))
    else:
        _show(verdict, checked_key=key is not None or keys is not None)
    return OK if verdict.good else FAILED


def _of_database(noted: str | None) -> Verdict:
    place = None if noted is None else _place(noted)

    async def work(installation: Installation) -> Verdict:
        return await service.verify_chain(installation.database, acting(), place)

    return with_installation(work)


def _of_file(file: Path, key: str | None, keys: Path | None) -> Verdict:
    trusted_key, history = trusted(key, keys)
    try:
        with file.open("rb") as opened:
            return verify_export(_lines(opened), trusted_key, history)
    except FileNotFoundError as error:
        raise FileMissing(f"There is no file {file}.", remedy="Check the path.") from error
    except OSError as error:
        raise Invalid(f"{file} cannot be read: {error.strerror}.", remedy="Check its permissions.") from error


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield lines, limited to the maximum length of ours."""
    while line := file.readline(LONGEST_LINE + 1):
        yield line


def _place(text: str) -> Place:
    seq, _, hash_ = text.strip().partition(":")
    if not (seq.isascii() and seq.isdecimal() and len(seq) < 19 and len(hash_) == 64):
        raise Invalid(
            "This is not an end of the audit log.",
            remedy="Pass the output of `headgate audit head`, such as 12:3fa9...",
        )
    return Place(int(seq), hash_)


def _opened(output: Path) -> BinaryIO:
    try:
        return output.open("wb")
    except OSError as error:
        raise Invalid(f"{output} cannot be written: {error.strerror}.", remedy="Check the path.") from error


_FOR_PROGRAMS = ("id", "ids", "checksum", "agent", "nodes", "characters")
"""What the last word of a member's name says of it; `--json` has them."""


def _in_words(entry: AuditOut) -> str:
    """Describe an action for a user: no ids, no digests, nothing twice."""
    asked = entry.payload if isinstance(entry.payload, dict) else {}
    more = ", ".join(
        f"{key.replace('_', ' ')} {'yes' if value is True else 'no' if value is False else str(value)[:60]}"
        for key, value in asked.items()
        if isinstance(value, str | int)
        and value not in ("", entry.resource.name)
        and key.rpartition("_")[2] not in _FOR_PROGRAMS
        and not (isinstance(value, str) and is_id(value))
    )
    words = f"{entry.action} {entry.resource.name or entry.resource.id}"
    return f"{words}: {more}" if more else words


def _utc(moment: datetime | None) -> datetime | None:
    return None if moment is None else moment.replace(tzinfo=UTC)


def _show(verdict: Verdict, *, checked_key: bool) -> None:
    for fault in verdict.faults:
        console.print(f"[red]✗[/] {escape(str(fault))}")
    if verdict.more_faults:
        console.print(f"[red]✗[/] and {verdict.more_faults} more.")
    for note in verdict.notes:
        console.print(f"[yellow]![/] {escape(note)}")
    if not verdict.good:
        console.print("[red]The log does not match its hash chain: it was changed.[/]")
        return
    console.print(
        f"[green]✓[/] {verdict.entries} entries, all links are valid; the last is {verdict.seq}:{verdict.hash}"
    )
    if verdict.key_id:
        signed = f"[green]✓[/] Signed by key {escape(verdict.key_id)}"
        console.print(signed + ("." if checked_key else "; use --key or --keys to require a key that you trust."))
