"""`headgate codev`: the development agent in a terminal."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markdown import Markdown
from rich.markup import escape

from headgate.agents.codev.patterns import service as patterns_service
from headgate.agents.codev.patterns.schemas import pattern_out
from headgate.agents.codev.schemas import Retry, RollbackAnswer, SessionStart
from headgate.entrypoints.cli import codev_instances
from headgate.entrypoints.cli.codev_answers import Given
from headgate.entrypoints.cli.codev_pages import conclude, rolled_back, show_rollback, show_session
from headgate.entrypoints.cli.codev_watch import SessionWatch
from headgate.entrypoints.cli.exit_codes import OK
from headgate.entrypoints.cli.files import write_file
from headgate.entrypoints.cli.flow_choice import flow_id_of
from headgate.entrypoints.cli.output import JsonFlag, console, print_json, print_rows, table, when
from headgate.entrypoints.cli.printable import printable
from headgate.entrypoints.cli.session import acting, on_installation, on_parts, with_parts
from headgate.entrypoints.compose import Parts
from headgate.entrypoints.installation import Installation
from headgate.features.testing.schemas import MOST_TRIALS
from headgate.foundation.checked import checked
from headgate.foundation.errors import Invalid

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="The development agent: plans, builds and tests a flow, and asks for approval before it writes.",
)
app.add_typer(codev_instances.app, name="instances")
SessionArgument = Annotated[str, typer.Argument(metavar="SESSION", help="Id of the session.")]
_MOST = 200
_LONGEST_WANTED = 60
_BESIDE_WANTED = 66
"""Columns that a list of sessions takes besides what was wanted."""
_STATES = {
    "in_progress": "works",
    "pending_interrupt": "waits",
    "completed": "done",
    "stopped": "stopped",
    "error": "failed",
}


@app.command()
def start(
    requirement: Annotated[str, typer.Argument(help="Description of what the flow should do.")],
    flow: Annotated[
        str, typer.Option("--flow", "-f", help="Id or name of the flow to work on. Default: create one.")
    ] = "",
    domain: Annotated[str, typer.Option(help="Target: headgate or flowise.")] = "",
    instance: Annotated[str, typer.Option(help="Name of the Flowise server. Default: the first.")] = "",
    model: Annotated[str, typer.Option(help="provider/name. Default: the configured model.")] = "",
    trials: Annotated[int, typer.Option(min=1, max=MOST_TRIALS, help="Runs of each test; all must pass.")] = 1,
    budget: Annotated[
        int | None, typer.Option(min=1000, help="Maximum number of tokens that the session may use.")
    ] = None,
    max_iterations: Annotated[int | None, typer.Option(min=1, max=20, help="Maximum number of plans to try.")] = None,
    yes_repairs: Annotated[
        bool, typer.Option("--yes-repairs", help="Approve repairs of an approved plan automatically.")
    ] = False,
    skip_questions: Annotated[
        bool, typer.Option("--skip-questions", help="Start without clarifying questions.")
    ] = False,
    webhook: Annotated[str, typer.Option(help="Webhook URL called when the session needs input.")] = "",
    json: JsonFlag = False,
) -> int:
    """Start a session, follow it, and answer its questions."""
    if not requirement.strip():
        raise Invalid("The description is missing.", remedy='Describe the flow: headgate codev start "a bot that ..."')
    where = domain or ("flowise" if instance else "headgate")

    async def work(parts: Parts) -> int:
        own = where == "headgate"
        request = checked(
            SessionStart,
            requirement=requirement,
            domain=where,
            flow_id=(await flow_id_of(parts, flow) if own else flow) if flow else None,
            instance_id=instance,
            model=model or None,
            test_trials=trials,
            token_budget=budget,
            max_iterations=max_iterations,
            repairs_approved=yes_repairs,
            skip_clarification=skip_questions,
            webhook_url=webhook or None,
        )
        begun = await parts.codev.start(acting(), request, address=None)
        return await SessionWatch(parts, quiet=json).play(begun)

    return with_parts(work, quiet="critical")


@app.command()
def resume(
    session: SessionArgument,
    approve: Annotated[bool, typer.Option("--approve", help="Approve the plan.")] = False,
    plan: Annotated[
        Path | None, typer.Option(help="Approve the edited plan in this file.", exists=True, dir_okay=False)
    ] = None,
    yes_repairs: Annotated[bool, typer.Option("--yes-repairs", help="Also approve repairs of the plan.")] = False,
    answer: Annotated[str | None, typer.Option(help="Answer to the questions.")] = None,
    feedback: Annotated[str | None, typer.Option(help="Requested changes to the plan or the result.")] = None,
    accept: Annotated[bool, typer.Option("--accept", help="Accept the result.")] = False,
    save_tests: Annotated[
        bool, typer.Option("--save-tests", help="Also save the tests as the flow's test set.")
    ] = False,
    reject: Annotated[
        bool, typer.Option("--reject", help="Reject the plan or the result, and end the session.")
    ] = False,
    credentials_made: Annotated[
        bool, typer.Option("--credentials-made", help="Confirm that the credentials have been added.")
    ] = False,
    model: Annotated[
        str, typer.Option(help="provider/name, for a session that failed or was stopped. Default: the same model.")
    ] = "",
    token_budget: Annotated[
        int | None, typer.Option(help="Larger budget, for a session that stopped since its budget was used up.")
    ] = None,
    skip_credentials: Annotated[
        bool, typer.Option("--skip-credentials", help="Continue without the credentials.")
    ] = False,
    json: JsonFlag = False,
) -> int:
    """Answer a session, or continue one that was stopped or failed, and follow it."""
    given = Given(
        approve=approve,
        answer=answer,
        feedback=feedback,
        plan=plan,
        accept=accept,
        save_tests=save_tests,
        reject=reject,
        skip_credentials=skip_credentials,
        credentials_made=credentials_made,
        yes_repairs=yes_repairs,
    )
    given.check()

    async def work(parts: Parts) -> int:
        answer = await parts.codev.get(acting(), session)
        watching = SessionWatch(parts, quiet=json)
        continues = answer.status in {"error", "stopped"} or (answer.can_go_on and bool(model))
        if (model or token_budget) and (given.chosen_options or not continues):
            raise Invalid("--model and --token-budget are for a session that stopped or failed.", remedy="Omit them.")
        if given.chosen_options:
            answer = await watching.send(answer, given.to_session(answer))
        elif continues:
            request = checked(Retry, model=model or None, token_budget=token_budget)
            answer = await parts.codev.retry(acting(), session, request)
        return await watching.play(answer, after=answer.last_event)

    return with_parts(work, quiet="critical")


@app.command()
@on_parts
async def show(parts: Parts, session: SessionArgument, json: JsonFlag = False) -> None:
    """Show a session and what it waits for, without continuing it."""
    response = await parts.codev.get(acting(), session)
    print_json(response) if json else show_session(response)


@app.command("list")
@on_parts
async def list_(parts: Parts, json: JsonFlag = False) -> None:
    """List sessions, newest first."""
    sessions = (await parts.codev.list(acting(), limit=_MOST)).items
    if json:
        print_json(sessions)
    elif not sessions:
        console.print('No sessions yet. Start one: headgate codev start "a bot that ..."', markup=False)
    else:
        longest = min(_LONGEST_WANTED, max(_LONGEST_WANTED // 2, console.width - _BESIDE_WANTED))
        rows = [
            (row.thread_id, _STATES[row.status], _line(row.requirement, longest), when(row.updated_at))
            for row in sessions
        ]
        console.print(table(("id", "state", "wanted", "changed"), rows))


@app.command()
@on_parts
async def stop(parts: Parts, session: SessionArgument, json: JsonFlag = False) -> None:
    """End a session. Its changes are kept."""
    response = await parts.codev.stop(acting(), session)
    print_json(response) if json else conclude(response)


@app.command()
def rollback(
    session: SessionArgument,
    preview: Annotated[bool, typer.Option("--preview", help="Only show what would change.")] = False,
    keep_theirs: Annotated[
        bool, typer.Option("--keep-theirs", help="Roll back only where no changes by others are lost.")
    ] = False,
    take_mine: Annotated[
        bool, typer.Option("--take-mine", help="Restore the state before the session, and discard changes by others.")
    ] = False,
    json: JsonFlag = False,
) -> int:
    """Roll back all changes of a session, or none.

    Where somebody else changed a flow meanwhile it shows what, and is refused without --keep-theirs or --take-mine.
    """
    if keep_theirs and take_mine:
        raise Invalid("--keep-theirs and --take-mine exclude each other.", remedy="Use only one of them.")
    choice = "keep_theirs" if keep_theirs else "take_mine" if take_mine else None

    async def work(parts: Parts) -> int:
        before = await parts.codev.preview_rollback(acting(), session)
        if preview:
            print_json(before) if json else show_rollback(before)
            return OK
        if not json and before.conflict:
            show_rollback(before)
        answer = RollbackAnswer(choice=choice, token=before.token if choice else None)
        outcome = await parts.codev.rollback(acting(), session, answer)
        print_json(outcome) if json else console.print(rolled_back(before, choice))
        return OK

    return with_parts(work)


@app.command()
@on_parts
async def summary(parts: Parts, session: SessionArgument, json: JsonFlag = False) -> None:
    """Print a session as a Markdown document."""
    response = await parts.codev.summary(acting(), session)
    if json:
        print_json(response)
    elif console.is_terminal:
        console.print(Markdown(printable(response.summary)))
    else:
        console.print(response.summary, markup=False)


@app.command()
@on_parts
async def evidence(
    parts: Parts,
    session: SessionArgument,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Output file. Default: standard output.")
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Export the record of a session, chained and signed. Check it with `headgate evidence verify FILE`."""
    content = await parts.codev.evidence(acting(), session)
    if output is None:
        console.file.write(content.decode())
        console.file.flush()
        return
    write_file(output, content)
    written = {"path": str(output), "size": len(content)}
    print_json(written) if json else console.print(f"Wrote {output} ({len(content):,} bytes).")


@app.command()
@on_parts
async def delete(parts: Parts, session: SessionArgument, json: JsonFlag = False) -> None:
    """Delete a session permanently. Its changes are kept and can no longer be rolled back."""
    await parts.codev.delete(acting(), session)
    print_json({"id": session, "deleted": True}) if json else console.print(f"Deleted session {session}.")


@app.command()
@on_installation
async def patterns(
    installation: Installation,
    words: Annotated[list[str] | None, typer.Argument(help="Search terms. Default: the newest.")] = None,
    domain: Annotated[str, typer.Option(help="headgate or flowise. Default: both.")] = "",
    json: JsonFlag = False,
) -> None:
    """Search flows of completed sessions."""
    asked = " ".join(words or [])
    async with installation.database.reading() as session:
        if asked:
            rows = await patterns_service.search_patterns(session, acting(), asked, domain=domain, limit=20)
        else:
            rows = await patterns_service.list_patterns(session, acting(), domain=domain, limit=_MOST)
        results = [pattern_out(row) for row in rows]
    print_rows(
        results,
        ("id", "name", "wanted", "succeeded"),
        [(row.id, _line(row.name), _line(row.requirement), row.success_count) for row in results],
        json=json,
        none="No patterns" + (" have these words." if asked else " yet: a session keeps one at its end."),
    )


def _line(text: str, longest: int = _LONGEST_WANTED) -> str:
    flat = " ".join(printable(text).split())
    return escape(flat if len(flat) <= longest else f"{flat[: longest - 1]}…")
