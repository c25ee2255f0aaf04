"""`headgate codev`: the development agent in a terminal."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markdown import Markdown
from rich.markup import escape

from headgate.agents.codev.patterns import service as patterns_service
from headgate.agents.codev.patterns.schemas import pattern_out
from headgate.agents.codev.schemas import (
    Retry,
    RollbackAnswer,
    SessionStart,
)
from headgate.entrypoints.cli import codev_instances
from headgate.entrypoints.cli.codev_answers import Given
from headgate.entrypoints.cli.codev_pages import (
    conclude,
    rolled_back,
    show_rollback,
    show_session,
)
from headgate.entrypoints.cli.codev_watch import SessionWatch
from headgate.entrypoints.cli.exit_codes import OK
from headgate.entrypoints.cli.files import write_file
from headgate.entrypoints.cli.flow_choice import flow_id_of
from headgate.entrypoints.cli.output import JsonFlag, console, print_json, table, when
from headgate.entrypoints.cli.printable import printable
from headgate.entrypoints.cli.session import acting, with_installation, with_parts
from headgate.entrypoints.compose import Parts
from headgate.entrypoints.installation import Installation
from headgate.features.testing.schemas import MOST_TRIALS
from headgate.foundation.checked import checked
from headgate.foundation.errors import Invalid

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="The development agent: plans, builds and tests a flow, and asks before it writes.",
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
    requirement: Annotated[str, typer.Argument(help="What is wanted, in your words.")],
    flow: Annotated[str, typer.Option("--flow", "-f", help="Id or name of the flow to work on. None: make one.")] = "",
    domain: Annotated[str, typer.Option(help="Where: headgate or flowise.")] = "",
    instance: Annotated[str, typer.Option(help="Flowise: which server. None: the first.")] = "",
    model: Annotated[str, typer.Option(help="provider/name. None: as set.")] = "",
    trials: Annotated[int, typer.Option(min=1, max=MOST_TRIALS, help="How often each test is run; all must pass.")] = 1,
    budget: Annotated[int | None, typer.Option(min=1000, help="Tokens that the session may use.")] = None,
    max_iterations: Annotated[int | None, typer.Option(min=1, max=20, help="Plans that are tried at most.")] = None,
    yes_repairs: Annotated[
        bool, typer.Option("--yes-repairs", help="Repairs of a plan that you approved need no approval of their own.")
    ] = False,
    skip_questions: Annotated[bool, typer.Option("--skip-questions", help="Ask no questions before looking.")] = False,
    webhook: Annotated[str, typer.Option(help="Address that is told whenever the session waits.")] = "",
    json: JsonFlag = False,
) -> int:
    """Start a session, watch it, and answer what it asks."""
    if not requirement.strip():
        raise Invalid("It was not said what is wanted.", remedy='Say it: headgate codev start "a bot that ..."')
    where = domain or ("flowise" if instance else "headgate")

    async def work(parts: Parts) -> int:
        own = where == "headgate"
        wanted = checked(
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
        begun = await parts.codev.start(acting(), wanted, address=None)
        return await SessionWatch(parts, quiet=json).play(begun)

    return with_parts(work, quiet="critical")


@app.command()
def resume(
    session: SessionArgument,
    approve: Annotated[bool, typer.Option("--approve", help="Approve the plan.")] = False,
    plan: Annotated[
        Path | None, typer.Option(help="Approve the plan as it is in this file.", exists=True, dir_okay=False)
    ] = None,
    yes_repairs: Annotated[
        bool, typer.Option("--yes-repairs", help="With the plan, its repairs are approved too.")
    ] = False,
    answer: Annotated[str | None, typer.Option(help="Answer to the questions.")] = None,
    feedback: Annotated[str | None, typer.Option(help="What should be otherwise, in the plan or the result.")] = None,
    accept: Annotated[bool, typer.Option("--accept", help="Accept the result.")] = False,
    save_tests: Annotated[
        bool, typer.Option("--save-tests", help="With the result, keep its tests as the flow's test set.")
    ] = False,
    reject: Annotated[
        bool, typer.Option("--reject", help="Reject the plan or the result, and end the session.")
    ] = False,
    credentials_made: Annotated[
        bool, typer.Option("--credentials-made", help="The credentials are there now.")
    ] = False,
    model: Annotated[
        str, typer.Option(help="provider/name, for a session that failed or was stopped. None: the one it had.")
    ] = "",
    token_budget: Annotated[
        int | None, typer.Option(help="Larger budget, for a session that stopped since its budget was used up.")
    ] = None,
    skip_credentials: Annotated[
        bool, typer.Option("--skip-credentials", help="Go on without the credentials.")
    ] = False,
    json: JsonFlag = False,
) -> int:
    """Answer a session, or go on with one that was left or failed, and watch it."""
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
        if (model or token_budget) and (given.said or not continues):
            raise Invalid("--model and --token-budget are for a session that stopped or failed.", remedy="Omit them.")
        if given.said:
            answer = await watching.send(answer, given.to_session(answer))
        elif continues:
            wanted = checked(Retry, model=model or None, token_budget=token_budget)
            answer = await parts.codev.retry(acting(), session, wanted)
        return await watching.play(answer, after=answer.last_event)

    return with_parts(work, quiet="critical")


@app.command()
def show(session: SessionArgument, json: JsonFlag = False) -> None:
    """Show a session and what it waits for. Nothing goes on because of it."""

    async def work(parts: Parts) -> None:
        found = await parts.codev.get(acting(), session)
        print_json(found) if json else show_session(found)

    with_parts(work)


@app.command("list")
def list_(json: JsonFlag = False) -> None:
    """List sessions, newest first."""

    async def work(parts: Parts) -> None:
        found = (await parts.codev.list(acting(), limit=_MOST)).items
        if json:
            print_json(found)
        elif not found:
            console.print('No sessions yet. Start one: headgate codev start "a bot that ..."', markup=False)
        else:
            longest = min(_LONGEST_WANTED, max(_LONGEST_WANTED // 2, console.width - _BESIDE_WANTED))
            rows = [
                (one.thread_id, _STATES[one.status], _line(one.requirement, longest), when(one.updated_at))
                for one in found
            ]
            console.print(table(("id", "state", "wanted", "changed"), rows))

    with_parts(work)


@app.command()
def stop(session: SessionArgument, json: JsonFlag = False) -> None:
    """End a session; what it wrote stays."""

    async def work(parts: Parts) -> None:
        found = await parts.codev.stop(acting(), session)
        print_json(found) if json else conclude(found)

    with_parts(work)


@app.command()
def rollback(
    session: SessionArgument,
    preview: Annotated[bool, typer.Option("--preview", help="Only show what would change.")] = False,
    keep_theirs: Annotated[
        bool, typer.Option("--keep-theirs", help="Go back only as far as no change of others is lost.")
    ] = False,
    take_mine: Annotated[
        bool, typer.Option("--take-mine", help="Go back to before the session, also where others changed the flow.")
    ] = False,
    json: JsonFlag = False,
) -> int:
    """Roll back all that a session wrote, or nothing.

    Where somebody else changed a flow meanwhile it shows what, and is refused without --keep-theirs or --take-mine.
    """
    if keep_theirs and take_mine:
        raise Invalid("--keep-theirs and --take-mine are two answers.", remedy="Give one of them.")
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
def summary(session: SessionArgument, json: JsonFlag = False) -> None:
    """Print a session as a Markdown document."""

    async def work(parts: Parts) -> None:
        found = await parts.codev.summary(acting(), session)
        if json:
            print_json(found)
        elif console.is_terminal:
            console.print(Markdown(printable(found.summary)))
        else:
            console.print(found.summary, markup=False)

    with_parts(work)


@app.command()
def evidence(
    session: SessionArgument,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write; standard output when omitted.")
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Export the record of a session, chained and signed. Check it with `headgate evidence verify FILE`."""

    async def work(parts: Parts) -> None:
        content = await parts.codev.evidence(acting(), session)
        if output is None:
            console.file.write(content.decode())
            console.file.flush()
            return
        write_file(output, content)
        written = {"path": str(output), "size": len(content)}
        print_json(written) if json else console.print(f"Wrote {output} ({len(content):,} bytes).")

    with_parts(work)


@app.command()
def delete(session: SessionArgument, json: JsonFlag = False) -> None:
    """Forget a session for good. What it wrote stays, and cannot be rolled back any more."""

    async def work(parts: Parts) -> None:
        await parts.codev.delete(acting(), session)
        print_json({"id": session, "deleted": True}) if json else console.print(f"Deleted session {session}.")

    with_parts(work)


@app.command()
def patterns(
    words: Annotated[list[str] | None, typer.Argument(help="What to look for. None: the newest.")] = None,
    domain: Annotated[str, typer.Option(help="headgate or flowise. None: both.")] = "",
    json: JsonFlag = False,
) -> None:
    """Search flows that sessions brought to their end."""
    asked = " ".join(words or [])

    async def work(installation: Installation) -> None:
        async with installation.database.reading() as session:
            if asked:
                rows = await patterns_service.search_patterns(session, acting(), asked, domain=domain, limit=20)
            else:
                rows = await patterns_service.list_patterns(session, acting(), domain=domain, limit=_MOST)
            found = [pattern_out(row) for row in rows]
        if json:
            print_json(found)
        elif not found:
            console.print("No patterns" + (" have these words." if asked else " yet: a session keeps one at its end."))
        else:
            cells = [(one.id, _line(one.name), _line(one.requirement), one.success_count) for one in found]
            console.print(table(("id", "name", "wanted", "succeeded"), cells))

    with_installation(work)


def _line(text: str, longest: int = _LONGEST_WANTED) -> str:
    found = " ".join(printable(text).split())
    return escape(found if len(found) <= longest else f"{found[: longest - 1]}…")
