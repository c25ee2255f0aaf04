"""`headgate approvals`: decisions that runs wait for."""

from typing import Annotated, Literal

import typer
from rich.markup import escape

from headgate.entrypoints.cli.output import JsonFlag, console, print_json, table, when
from headgate.entrypoints.cli.session import acting, with_installation
from headgate.entrypoints.installation import Installation
from headgate.features.runs.approvals import service
from headgate.features.runs.approvals.schemas import ApprovalOut, ApprovalState, DecisionIn
from headgate.sdk.coerce import text_of

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Approvals that runs wait for: list, show, approve, reject."
)
ApprovalId = Annotated[str, typer.Argument(help="Id of the approval.")]
Comment = Annotated[str, typer.Option(help="Comment, which the flow receives.")]


@app.command("list")
def list_(
    status: Annotated[ApprovalState | None, typer.Option(help="Only approvals in this state.")] = "pending",
    limit: Annotated[int, typer.Option(help="Maximum number of approvals.", min=1, max=200)] = 50,
    json: JsonFlag = False,
) -> None:
    """List approvals, newest first."""

    async def work(installation: Installation) -> None:
        async with installation.database.reading() as session:
            approvals = await service.list_approvals(
                session, acting(), box=installation.box, status=status, limit=limit
            )
        if json:
            print_json(approvals)
        elif not approvals:
            console.print("No approvals.")
        else:
            rows = [
                (item.id, escape(item.flow_name), escape(item.question[:80]), item.status, when(item.created_at))
                for item in approvals
            ]
            console.print(table(("id", "flow", "question", "status", "asked"), rows))

    with_installation(work)


@app.command()
def show(approval_id: ApprovalId, json: JsonFlag = False) -> None:
    """Show what an approval asks, and its decisions."""

    async def work(installation: Installation) -> None:
        async with installation.database.reading() as session:
            approval = await service.get_approval(session, acting(), approval_id, box=installation.box)
        _show(approval, json=json)

    with_installation(work)


@app.command()
def approve(approval_id: ApprovalId, comment: Comment = "", json: JsonFlag = False) -> None:
    """Approve. A running server or worker continues the run."""
    _decide(approval_id, "approve", comment, json=json)


@app.command()
def reject(approval_id: ApprovalId, comment: Comment = "", json: JsonFlag = False) -> None:
    """Reject. A running server or worker continues the run."""
    _decide(approval_id, "reject", comment, json=json)


def _decide(approval_id: str, decision: Literal["approve", "reject"], comment: str, *, json: bool) -> None:
    async def work(installation: Installation) -> None:
        async with installation.database.writing() as session:
            decision_in = DecisionIn(decision=decision, comment=comment)
            approval = await service.decide(session, acting(), approval_id, decision_in, box=installation.box)
        _show(approval, json=json)

    with_installation(work)


def _show(approval: ApprovalOut, *, json: bool) -> None:
    if json:
        print_json(approval)
        return
    console.print(f"[bold]{escape(approval.question)}[/] ({approval.status})")
    console.print(f"[dim]{escape(approval.flow_name)}, run {approval.run_id}, step {escape(approval.step_id)}[/]\n")
    console.print(escape(text_of(approval.value)))
    for decision in approval.decisions:
        comment = f": {escape(decision.comment)}" if decision.comment else ""
        console.print(f"\n{decision.decision} by {escape(decision.user_name)}, {when(decision.decided_at)}{comment}")
