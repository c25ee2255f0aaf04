"""`headgate flows`."""

from itertools import zip_longest
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.markup import escape

from headgate.entrypoints.cli import flow_places, flow_state
from headgate.entrypoints.cli.exit_codes import INVALID, OK
from headgate.entrypoints.cli.flow_choice import FlowArgument, flow_id_of
from headgate.entrypoints.cli.flow_places import FavouritesFlag, FolderOption, TagOption
from headgate.entrypoints.cli.output import (
    JsonFlag,
    console,
    print_issues,
    print_json,
    print_result,
    print_rows,
    table,
    when,
)
from headgate.entrypoints.cli.reports import flow_report
from headgate.entrypoints.cli.session import acting, on_installation, with_parts
from headgate.entrypoints.compose import Parts
from headgate.entrypoints.installation import Installation
from headgate.features.accounts.spaces.service import list_spaces
from headgate.features.flows import history, service
from headgate.features.flows.organization.filters import FlowFilter
from headgate.features.flows.summaries import FlowSummary, VersionPublished, VersionSummary
from headgate.foundation.errors import Invalid
from headgate.foundation.ids import is_id
from headgate.foundation.lazy import lazy_module

if TYPE_CHECKING:
    from rich import prompt

    from headgate.entrypoints.cli import component_checks
    from headgate.features.accounts.users import service as users
    from headgate.features.flows import own_code, owners, versions
    from headgate.features.flows import undo as drafts
    from headgate.graph import draw
    from headgate.toolkit import proof
else:
    prompt = lazy_module("rich.prompt")
    component_checks = lazy_module("headgate.entrypoints.cli.component_checks")
    users = lazy_module("headgate.features.accounts.users.service")
    own_code = lazy_module("headgate.features.flows.own_code")
    drafts = lazy_module("headgate.features.flows.undo")
    owners = lazy_module("headgate.features.flows.owners")
    versions = lazy_module("headgate.features.flows.versions")
    draw = lazy_module("headgate.graph.draw")
    proof = lazy_module("headgate.toolkit.proof")

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="List, show, publish, compare, restore and delete flows."
)

app.command("report")(flow_report)
app.add_typer(flow_state.app, name="state")
flow_places.register(app)


@app.command("list")
@on_installation
async def list_(
    installation: Installation,
    search: Annotated[str, typer.Argument(help="Words in the name or description.")] = "",
    folder: FolderOption = "",
    tag: TagOption = "",
    favourites: FavouritesFlag = False,
    limit: Annotated[int, typer.Option(help="Maximum number of flows.", min=1, max=200)] = 50,
    json: JsonFlag = False,
) -> None:
    """List flows, newest first."""
    flow_filter = flow_places.wanted_flows(folder, tag, favourites=favourites)
    async with installation.database.reading() as session:
        rows = await service.list_flows(session, acting(), search=search, flow_filter=flow_filter, limit=limit)
        releases = await history.published_releases(session, acting(), rows)
        spaces = {space.space.id: space.space.name for space in await list_spaces(session, acting(), limit=1000)}
    summaries = [FlowSummary.model_validate(row) for row in rows]
    if json:
        print_json(summaries)
    elif not summaries and (search or flow_filter != FlowFilter()):
        console.print("No flows match.")
    elif not summaries:
        console.print('No flows yet. Describe what you want: [bold]headgate ask "..."[/]')
    else:
        cells = [
            (
                summary.id,
                escape(summary.name),
                escape(summary.folder),
                summary.revision,
                _release(releases.get(summary.id)),
                when(summary.updated_at),
                escape(spaces.get(summary.space_id, "")),
            )
            for summary in summaries
        ]
        columns = ("id", "name", "folder", "revision", "published", "changed", "space")
        # On a laptop there is one space, which needs no column.
        shown = None if len({summary.space_id for summary in summaries}) > 1 else -1
        console.print(table(columns[:shown], [cell[:shown] for cell in cells]))


@app.command()
@on_installation
async def show(installation: Installation, which: FlowArgument, json: JsonFlag = False) -> None:
    """Draw a flow and show what prevents it from running."""
    flow_id = await flow_id_of(installation, which)
    async with installation.database.reading() as session:
        row = await service.get_flow(session, acting(), flow_id)
    flow = service.definition_of(row)
    catalog = await installation.registry.for_flow(row.tenant_id, flow)
    readiness = await installation.rules.check(row.tenant_id, row.space_id, flow)
    if json:
        print_json(
            {
                **FlowSummary.model_validate(row).model_dump(mode="json"),
                "definition": flow.model_dump(mode="json"),
                **readiness.as_json(),
            }
        )
        return
    console.print(draw.draw(flow, catalog), markup=False)
    console.print(f"\n[dim]flow {row.id} (revision {row.revision})[/]")
    if flow.description and flow.description != flow.name:
        console.print(f"[dim]{escape(flow.description)}[/]")
    print_issues(readiness.issues)


@app.command()
@on_installation
async def publish(
    installation: Installation,
    which: FlowArgument,
    notes: Annotated[str, typer.Option(help="What is new.")] = "",
    json: JsonFlag = False,
) -> None:
    """Freeze the draft and make it the published version."""
    flow_id = await flow_id_of(installation, which)
    async with installation.database.writing() as session:
        row = await versions.publish_flow(session, acting(), installation.rules, flow_id, notes=notes)
        problems = await installation.trigger_transfer.problems(session, acting(), flow_id)
    version = VersionPublished.model_validate(row).model_copy(update={"notes": problems})
    published = f"Published release {version.release} (version {version.version}, {version.checksum[:12]})."
    print_result(version, "\n".join([published, *map(escape, version.notes)]), json=json)


@app.command("set-owner")
@on_installation
async def set_owner(
    installation: Installation,
    which: FlowArgument,
    who: Annotated[str, typer.Argument(metavar="USER", help="E-mail address or id of the new owner.")],
    json: JsonFlag = False,
) -> None:
    """Make another member of the flow's space its owner. The member must be able to edit flows there."""
    flow_id = await flow_id_of(installation, which)
    async with installation.database.writing() as session:
        user = await (users.get_user if is_id(who) else users.get_user_named)(session, acting(), who)
        row = await owners.transfer_flow(session, acting(), flow_id, user.id)
        shown, name = FlowSummary.model_validate(row), user.name or who
    print_result(shown, f"{escape(name)} owns {escape(shown.name)}.", json=json)


@app.command("versions")
@on_installation
async def versions_(installation: Installation, which: FlowArgument, json: JsonFlag = False) -> None:
    """List the versions of a flow, newest first."""
    flow_id = await flow_id_of(installation, which)
    async with installation.database.reading() as session:
        rows = await history.list_versions(session, acting(), flow_id)
    summaries = [VersionSummary.model_validate(row) for row in rows]
    print_rows(
        summaries,
        ("version", "release", "checksum", "made", "notes"),
        [
            (
                summary.version,
                summary.release or "",
                summary.checksum[:12],
                when(summary.created_at),
                escape(summary.release_notes),
            )
            for summary in summaries
        ],
        json=json,
    )


@app.command()
@on_installation
async def diff(
    installation: Installation,
    which: FlowArgument,
    before: Annotated[str, typer.Argument(help="Version number, or draft.")],
    after: Annotated[str, typer.Argument(help="Version number, or draft.")] = "draft",
    json: JsonFlag = False,
) -> None:
    """Show the changes between two versions."""
    first, second = _version(before), _version(after)
    flow_id = await flow_id_of(installation, which)
    async with installation.database.reading() as session:
        changes = await versions.diff_versions(
            session, acting(), installation.registry, flow_id, before=first, after=second
        )
    print_result(
        {"identical": changes.is_empty, "lines": changes.lines(), "changes": changes.as_json()},
        "\n".join(changes.lines()) or "No difference.",
        json=json,
        markup=False,
    )


@app.command()
@on_installation
async def restore(
    installation: Installation,
    which: FlowArgument,
    version: Annotated[int, typer.Argument(help="Version number.", min=1)],
    json: JsonFlag = False,
) -> None:
    """Restore a version into the draft."""
    flow_id = await flow_id_of(installation, which)
    async with installation.database.writing() as session:
        row = await service.get_flow(session, acting(), flow_id)
        row = await versions.restore_version(
            session, acting(), installation.registry, flow_id, version, revision=row.revision
        )
    print_result(
        {"id": row.id, "revision": row.revision},
        f"The draft holds version {version} again (revision {row.revision}).",
        json=json,
    )


@app.command()
@on_installation
async def undo(
    installation: Installation,
    which: FlowArgument,
    to: Annotated[
        int, typer.Option(min=0, help="Revision to restore, listed by `headgate flows revisions`. Also used to redo.")
    ] = 0,
    json: JsonFlag = False,
) -> None:
    """Undo the last change of the draft; repeat to undo earlier ones. With --to, restore any revision."""
    flow_id = await flow_id_of(installation, which)
    async with installation.database.writing() as session:
        row = await service.get_flow(session, acting(), flow_id)
        before = row.revision
        row = await drafts.undo_draft(session, acting(), installation.registry, flow_id, revision=before, to=to)
    if json:
        print_json({"id": row.id, "revision": row.revision, "restores": row.restores})
        return
    flow = service.definition_of(row)
    console.print(draw.draw(flow, await installation.registry.for_flow(row.tenant_id, flow)), markup=False)
    console.print(f"\nRevision {row.revision} restores revision {row.restores}. To redo:")
    console.print(f"headgate flows undo {row.id} --to {before}", markup=False)


@app.command()
@on_installation
async def revisions(installation: Installation, which: FlowArgument, json: JsonFlag = False) -> None:
    """List the newest revisions of the draft and their changes."""
    flow_id = await flow_id_of(installation, which)
    async with installation.database.reading() as session:
        newest = await drafts.list_drafts(session, acting(), flow_id, limit=21)
    catalog = await installation.registry.for_flow(acting().tenant_id, newest[0].flow)
    lines = [
        (draft, proof.diff_lines(earlier.flow, draft.flow, catalog) if earlier is not None else [])
        for draft, earlier in zip_longest(newest[:20], newest[1:])
        if draft is not None
    ]
    print_rows(
        [_revision(draft, changes) for draft, changes in lines],
        ("revision", "saved", "restores", "changes"),
        [(draft.revision, draft.saved_at, draft.restores, "; ".join(changes[:4])) for draft, changes in lines],
        json=json,
    )


def _revision(draft: "drafts.Draft", changes: list[str]) -> dict[str, object]:
    outcome = {"revision": draft.revision, "saved_at": draft.saved_at.isoformat(), "restores": draft.restores}
    return {**outcome, "changes": changes}


@app.command()
@on_installation
async def delete(
    installation: Installation,
    which: FlowArgument,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    json: JsonFlag = False,
) -> None:
    """Move a flow to the trash. It cannot run; `headgate flows trash restore` restores it. Runs are kept."""
    flow_id = await flow_id_of(installation, which)
    async with installation.database.writing() as session:
        row = await service.get_flow(session, acting(), flow_id)
        if not yes and not json and not prompt.Confirm.ask(f"Delete {escape(row.name)}?", default=False):
            raise typer.Abort
        await service.delete_flow(session, acting(), flow_id)
    print_result({"deleted": flow_id}, f"Deleted {escape(row.name)}.", json=json)


@app.command("check-code")
def check_code(which: FlowArgument, json: JsonFlag = False) -> int:
    """Check the custom code of a flow's nodes in the sandbox. Only code that passes can run. Exit code 3 on failure."""

    async def work(parts: Parts) -> int:
        flow_id = await flow_id_of(parts, which)
        report = await own_code.check_flow_code(parts.database, parts.checker, acting(), flow_id)
        if json:
            print_json(report)
        elif not report.items:
            console.print(
                "Nothing to check: " + (f"{report.known} already checked." if report.known else "no custom code.")
            )
        for check in [] if json else report.items:
            component_checks.show_check(check, ", ".join(check.nodes))
        return OK if all(check.ok for check in report.items) else INVALID

    return with_parts(work)


def _release(number: int | None) -> str:
    return "" if number is None else f"release {number}"


def _version(text: str) -> int | Literal["draft"]:
    if text == "draft":
        return "draft"
    if not text.isdigit() or int(text) < 1:
        raise Invalid(f"'{text}' is not a version.", remedy="Use a version number or 'draft'.")
    return int(text)
