"""`headgate tests`."""

import json as json_text
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from pydantic import TypeAdapter, ValidationError
from rich.markup import escape

from headgate.entrypoints.cli.exit_codes import FAILED, OK
from headgate.entrypoints.cli.expected import expected, given, in_short
from headgate.entrypoints.cli.flow_choice import FlowArgument, flow_id_of
from headgate.entrypoints.cli.knowledge_base import find_base
from headgate.entrypoints.cli.output import JsonFlag, console, print_json, print_result, table, when
from headgate.entrypoints.cli.session import acting, on_installation, with_installation, with_parts
from headgate.entrypoints.cli.transfer import read_text
from headgate.entrypoints.compose import Parts
from headgate.entrypoints.installation import Installation
from headgate.features.testing import results, service
from headgate.features.testing.errors import TestResultNotFound
from headgate.features.testing.from_questions import add_question_tests
from headgate.features.testing.schemas import (
    MOST_TRIALS,
    QuestionTestsIn,
    Standing,
    TestResultOut,
    TestResultSummary,
    TrialOut,
)
from headgate.foundation.checked import checked
from headgate.foundation.errors import Invalid
from headgate.graph.cases import MOST_CASES, TestCase

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Tests of a flow: list, set and run them, and show results."
)
_CASES = TypeAdapter(list[TestCase])
_MEMBERS = (
    "A test has `name`, `text`, `form`, `file_ids` and `expect`: `contains`, `excludes`, `equals`, `matches`, "
    "`json_schema`, `reference`, `documents`, `supported`, `criterion`, `judge_model`."
)


@app.command("list")
@on_installation
async def list_(installation: Installation, which: FlowArgument, json: JsonFlag = False) -> None:
    """List the tests of a flow, and whether its draft passes them."""
    flow_id = await flow_id_of(installation, which)
    async with installation.database.reading() as session:
        tests = await results.read_tests(session, acting(), installation.registry, flow_id)
    if json:
        print_json(tests)
        return
    if not tests.cases:
        console.print("No tests yet. Add some from a file: [bold]headgate tests set FLOW tests.json[/]")
        return
    rows = [(escape(case.name), escape(given(case)), escape(expected(case.expect))) for case in tests.cases]
    console.print(table(("test", "input", "the answer"), rows))
    often = f", {tests.required_trials} trials of each" if tests.required_trials > 1 else ""
    required = f"; they must pass before publishing{often}" if tests.required else ""
    console.print(f"\n[dim]{_describe_standing(tests.standing)}{required}.[/]")


@app.command("set")
def set_(
    which: FlowArgument,
    file: Annotated[str, typer.Argument(help="JSON file with a list of tests, or - for standard input.")],
    add: Annotated[
        bool, typer.Option("--add", help="Add to the existing tests; tests with the same name are replaced.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the tests even if they changed after the file was written.")
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Replace the tests of a flow with those in a file, as written by `headgate tests list FLOW --json`.

    A file made so knows which tests it was made of: when those were changed meanwhile, nothing is replaced.
    """
    cases, revision = _read(file)
    based_on = None if add or force else revision

    async def work(installation: Installation) -> None:
        flow_id = await flow_id_of(installation, which)
        async with installation.database.writing() as session:
            change = service.keep_cases if add else service.replace_cases
            stored = await change(session, acting(), flow_id, cases, revision=based_on)
        print_result(
            {"flow_id": flow_id, "tests": len(stored), "revision": service.revision_of(stored)},
            f"The flow has {_counted(len(stored), 'test')}.",
            json=json,
        )

    with_installation(work)


@app.command("from-questions")
@on_installation
async def from_questions_(
    installation: Installation,
    which: FlowArgument,
    base: Annotated[str, typer.Argument(help="Id or name of the knowledge base.")],
    judge_model: Annotated[
        str, typer.Option(help="Chat model that compares answers with the reference answers. Default: by rule.")
    ] = "",
    supported: Annotated[
        bool, typer.Option("--supported", help="Passages must support every sentence of the answers.")
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Add a test for each question of a knowledge base: the reference answer, and the documents that answer it."""
    flow_id = await flow_id_of(installation, which)
    base_id = (await find_base(installation, base)).id
    body = checked(QuestionTestsIn, base_id=base_id, judge_model=judge_model, supported=supported)
    async with installation.database.writing() as session:
        tests = await add_question_tests(session, acting(), flow_id, body)
    skipped = f"; {tests.skipped} skipped" if tests.skipped else ""
    left = f"; {tests.left} left: a flow has at most {MOST_CASES} tests" if tests.left else ""
    print_result(tests, f"Added {_counted(len(tests.added), 'test')}{skipped}{left}.", json=json)


@app.command()
def run(
    which: FlowArgument,
    trials: Annotated[
        int | None,
        typer.Option(min=1, max=MOST_TRIALS, help="Runs of each test. Default: the number that the flow requires."),
    ] = None,
    json: JsonFlag = False,
) -> int:
    """Run the tests of the draft, each trial as a separate run. Exit code 1 if any fails."""

    async def work(parts: Parts) -> int:
        flow_id = await flow_id_of(parts, which)

        def report(line: TrialOut) -> None:
            if not json:
                console.print(f"{_mark(line)} {escape(line.name)} [dim]trial {line.trial}, {line.ms} ms[/]")

        result_id = await parts.tests.begin(acting(), flow_id, trials=trials, report=report)
        await parts.tests.wait(result_id)
        async with parts.database.reading() as session:
            result = await results.read_result(session, acting(), flow_id, result_id)
        print_json(result) if json else _show(result)
        return OK if result.status == "passed" else FAILED

    return with_parts(work)


@app.command("results")
@on_installation
async def results_(
    installation: Installation,
    which: FlowArgument,
    limit: Annotated[int, typer.Option(help="Maximum number of results.", min=1, max=results.MOST_RESULTS)] = 20,
    json: JsonFlag = False,
) -> None:
    """List the test results of a flow, newest first. The newest fifty are kept."""
    flow_id = await flow_id_of(installation, which)
    async with installation.database.reading() as session:
        summaries = await results.list_results(session, acting(), flow_id, limit=limit)
    if json:
        print_json(summaries)
    elif not summaries:
        console.print("The tests have not been run yet. Run them: [bold]headgate tests run FLOW[/]")
    else:
        columns = ("id", "status", "version", "trials of each", "passed", "started", "took")
        console.print(table(columns, [_row(summary) for summary in summaries]))
        console.print("\n[dim]show one: headgate tests show FLOW ID[/]")


@app.command()
@on_installation
async def show(
    installation: Installation,
    which: FlowArgument,
    result_id: Annotated[str, typer.Argument(metavar="[ID]", help="Id of the result. Default: the newest.")] = "",
    json: JsonFlag = False,
) -> None:
    """Show a test result: every trial, unmet expectations and its run."""
    flow_id = await flow_id_of(installation, which)
    async with installation.database.reading() as session:
        newest = [] if result_id else await results.list_results(session, acting(), flow_id, limit=1)
        if not (result_id or newest):
            raise TestResultNotFound
        result = await results.read_result(session, acting(), flow_id, result_id or newest[0].id)
    if json:
        print_json(result)
        return
    console.print(f"[bold]{result.id}[/] [dim]version {result.version}, {when(result.started_at)}[/]\n")
    columns = ("", "test", "trial", "took", "tokens", "run", "answer")
    console.print(table(columns, [_trial(line) for line in result.lines]))
    _show(result)


def _row(summary: TestResultSummary) -> tuple[str, ...]:
    took = "" if summary.finished_at is None else f"{(summary.finished_at - summary.started_at).total_seconds():,.1f} s"
    passed = f"{summary.done - summary.failures} of {summary.of}"
    return (
        summary.id,
        _state(summary.status),
        f"v{summary.version}",
        str(summary.trials),
        passed,
        when(summary.started_at),
        took,
    )


def _trial(line: TrialOut) -> tuple[str, ...]:
    answer = escape(in_short(line.answer))
    return (_mark(line), escape(line.name), str(line.trial), f"{line.ms} ms", str(line.tokens), line.run_id, answer)


def _state(status: str) -> str:
    colour = {"passed": "green", "failed": "red", "running": "yellow"}.get(status, "dim")
    return f"[{colour}]{status}[/]"


def _show(result: TestResultOut) -> None:
    names = {line.position: line.name for line in result.lines}
    rows: list[Sequence[object]] = []
    for position, name in sorted(names.items()):
        own = [line for line in result.lines if line.position == position]
        passed = sum(line.passed for line in own)
        colour = "green" if passed == result.trials else "red"
        rows.append((escape(name), f"[{colour}]{passed} of {result.trials}[/]", escape("\n".join(_faults(own)))))
    console.print()
    console.print(table(("test", "passed", ""), rows))
    took = f"{_counted(result.done, 'trial')}, {_counted(sum(line.tokens for line in result.lines), 'token')}"
    console.print(f"\n{_state(result.status)} [dim]{took}[/] {escape(result.reason)}")
    failed = next((line for line in result.lines if not line.passed and line.run_id), None)
    if failed is not None:
        console.print(f"[dim]show a run: headgate runs show {failed.run_id}[/]")


def _faults(lines: Sequence[TrialOut]) -> list[str]:
    """Return the failed expectations, without duplicates."""
    faults = [
        fault for line in lines for fault in ([line.error] if line.error else [f"the answer {x}" for x in line.misses])
    ]
    return list(dict.fromkeys(faults))


def _mark(line: TrialOut) -> str:
    return "[green]✓[/]" if line.passed else "[red]✗[/]"


def _read(file: str) -> tuple[list[TestCase], str | None]:
    """Return the tests of a file, and the revision they are based on, if given."""
    where = "standard input" if file == "-" else Path(file).name
    try:
        content = json_text.loads(read_text(file))
    except ValueError as error:
        raise Invalid(f"{where} is not JSON: {error}.", remedy="Pass a list of tests as JSON.") from error
    listed = content.get("cases") if isinstance(content, dict) else content
    if not isinstance(listed, list):
        raise Invalid(
            f"{where} does not contain a list of tests.", remedy='Example: [{"name": "greets", "text": "Hello"}].'
        )
    try:
        cases = _CASES.validate_python(listed)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        member = ".".join(str(part) for part in first["loc"])
        raise Invalid(f"{where}: test {member}: {first['msg']}.", remedy=_MEMBERS) from error
    revision = content.get("revision") if isinstance(content, dict) else None
    return cases, revision if isinstance(revision, str) else None


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _describe_standing(standing: Standing) -> str:
    if standing.state == "failed":
        return f"The draft failed: {', '.join(standing.failed)}"
    return {"passed": "The draft passed its tests", "empty": "There are no tests"}.get(
        standing.state, "The draft has not passed these tests yet"
    )
