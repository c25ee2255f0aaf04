"""`headgate approvals`: decisions that runs wait for."""

from typing import Annotated, Any

import typer
from rich.markup import escape

from headgate.entrypoints.cli import exit_codes
from headgate.entrypoints.cli.files import form_answers
from headgate.entrypoints.cli.output import JsonFlag, console, print_json, table, when
from headgate.entrypoints.cli.session import acting, on_installation, with_installation
from headgate.entrypoints.installation import Installation
from headgate.features.runs.approvals import bulk, links, service
from headgate.features.runs.approvals.schemas import (
    ApprovalFilter,
    ApprovalOut,
    DecisionIn,
    DecisionItem,
    DecisionResult,
    ReviewLinkIn,
)
from headgate.foundation.checked import checked
from headgate.sdk.coerce import text_of

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Approvals that runs wait for: list, show, approve, reject, link."
)
ApprovalId = Annotated[str, typer.Argument(help="Id of the approval.")]
ApprovalIds = Annotated[list[str], typer.Argument(help="Ids of the approvals.", show_default=False)]
Comment = Annotated[str, typer.Option(help="Comment, which the flow receives.")]
Answers = Annotated[
    list[str] | None,
    typer.Option("--form", help="Answer to a field of the form: field=value. Repeat it for several choices."),
]


@app.command("list")
@on_installation
async def list_(
    installation: Installation,
    status: Annotated[
        ApprovalFilter | None, typer.Option(help="Only approvals in this state; decided: all that no longer wait.")
    ] = "pending",
    run: Annotated[str | None, typer.Option(help="Only approvals of this run: its id.")] = None,
    limit: Annotated[int, typer.Option(help="Maximum number of approvals.", min=1, max=200)] = 50,
    json: JsonFlag = False,
) -> None:
    """List approvals, newest first; pending ones by due time."""
    async with installation.database.reading() as session:
        approvals = await service.list_approvals(
            session, acting(), box=installation.box, status=status, run_id=run, limit=limit
        )
    if json:
        print_json(approvals)
    elif not approvals:
        console.print("No approvals.")
    else:
        rows = [
            (
                item.id,
                escape(item.flow_name),
                escape(item.question[:80]),
                escape(item.starter_name),
                item.status,
                when(item.created_at),
                "" if item.due_at is None else when(item.due_at),
            )
            for item in approvals
        ]
        console.print(table(("id", "flow", "question", "started by", "status", "asked", "due"), rows))


@app.command()
@on_installation
async def show(installation: Installation, approval_id: ApprovalId, json: JsonFlag = False) -> None:
    """Show what an approval asks, and its decisions."""
    async with installation.database.reading() as session:
        approval = await service.get_approval(session, acting(), approval_id, box=installation.box)
    _show(approval, json=json)


@app.command()
def approve(approval_ids: ApprovalIds, comment: Comment = "", form: Answers = None, json: JsonFlag = False) -> None:
    """Approve one or more. A running server or worker continues the runs."""
    _decide(approval_ids, {"decision": "approve", "comment": comment, "answers": form_answers(form or [])}, json=json)


@app.command()
def reject(approval_ids: ApprovalIds, comment: Comment = "", form: Answers = None, json: JsonFlag = False) -> None:
    """Reject one or more. A running server or worker continues the runs."""
    _decide(approval_ids, {"decision": "reject", "comment": comment, "answers": form_answers(form or [])}, json=json)


@app.command()
@on_installation
async def link(
    installation: Installation,
    approval_id: ApprovalId,
    recipient: Annotated[str, typer.Option(help="Name or address of the outside reviewer.")],
    hours: Annotated[float, typer.Option(help="How long it can be used; at most 720.")] = 72.0,
    send: Annotated[
        bool, typer.Option("--send", help="Send it to the recipient, a mail address, by the approval's connection.")
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Create a one-time link with which somebody outside decides in your place. It is shown once."""
    link_in = checked(ReviewLinkIn, recipient=recipient, hours=hours, send=send)
    server = installation.settings.server
    address = server.public_url or f"http://{server.host}:{server.port}"
    async with installation.database.writing() as session:
        created = await links.create_link(
            session,
            acting(),
            approval_id,
            link_in,
            server=address,
            scheme=installation.classes.enforced,
            box=installation.box,
        )
    if json:
        print_json(created)
    else:
        console.print(created.url, markup=False, soft_wrap=True)
        console.print(f"[dim]usable once, until {when(created.expires_at)}[/]")


def _decide(approval_ids: list[str], decided: dict[str, Any], *, json: bool) -> None:
    async def one(installation: Installation) -> None:
        async with installation.database.writing() as session:
            decision_in = checked(DecisionIn, **decided)
            approval = await service.decide(session, acting(), approval_ids[0], decision_in, box=installation.box)
        _show(approval, json=json)

    async def several(installation: Installation) -> None:
        items = [checked(DecisionItem, approval_id=item[:36], **decided) for item in approval_ids]
        results = await bulk.decide_each(installation.database, acting(), items, box=installation.box)
        if json:
            print_json(results)
        else:
            console.print(table(("id", "outcome"), [(item.approval_id, escape(_outcome(item))) for item in results]))
        if any(not item.stored for item in results):
            raise typer.Exit(exit_codes.FAILED)

    with_installation(one if len(approval_ids) == 1 else several)


def _outcome(result: DecisionResult) -> str:
    if result.problem is not None:
        return f"{result.problem.title}: {result.problem.detail}"
    return "counted, more approvals needed" if result.status == "pending" else str(result.status)


def _show(approval: ApprovalOut, *, json: bool) -> None:
    if json:
        print_json(approval)
        return
    console.print(f"[bold]{escape(approval.question)}[/] ({approval.status})")
    console.print(f"[dim]{escape(approval.flow_name)}, run {approval.run_id}, step {escape(approval.step_id)}[/]\n")
    console.print(escape(text_of(approval.value)))
    for field in approval.questions:
        about = ", ".join([field.type, *(["required"] if field.required else []), *field.options])
        console.print(f"\n{escape(field.label or field.id)} [dim]--form {escape(f'{field.id}=... ({about})')}[/]")
    for decision in approval.decisions:
        comment = f": {escape(decision.comment)}" if decision.comment else ""
        comment += escape("".join(f"\n  {name}: {text_of(answer)}" for name, answer in decision.answers.items()))
        console.print(f"\n{decision.decision} by {escape(decision.user_name)}, {when(decision.decided_at)}{comment}")
