"""`headgate ask`: the assistant in a terminal."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from headgate.agents.assistant.models.choice import OFFLINE_NAME
from headgate.agents.assistant.protocol import (
    COMPONENT_CONTINUATION_INPUT,
    EDIT_CONTINUATION_INPUT,
    PLAN_APPROVAL_INPUT,
)
from headgate.agents.assistant.schemas import AssistRequest
from headgate.agents.assistant.sessions.service import reset_session
from headgate.agents.assistant.turn_flow import RunInput, with_only_file
from headgate.entrypoints.cli.ask_view import Conversation, conclude
from headgate.entrypoints.cli.exit_codes import DECLINED, OK
from headgate.entrypoints.cli.files import form_answers, store_files, with_files
from headgate.entrypoints.cli.flow_choice import flow_id_of
from headgate.entrypoints.cli.output import console, errors, print_json
from headgate.entrypoints.cli.session import acting, with_parts
from headgate.entrypoints.compose import Parts
from headgate.foundation.checked import checked
from headgate.foundation.errors import Invalid
from headgate.foundation.ids import new_id
from headgate.graph.model import Flow

app = typer.Typer(add_completion=False)


@app.command()
def ask(
    request: Annotated[str, typer.Argument(help="Description of what you want.")],
    flow: Annotated[str | None, typer.Option("--flow", "-f", help="Id or name of the flow to work on.")] = None,
    run: Annotated[bool, typer.Option("--run", help="Run the flow after it is built or edited.")] = False,
    text: Annotated[str, typer.Option(help="Text input for that run.")] = "",
    form: Annotated[
        list[str] | None,
        typer.Option(help="Form answer for that run as field=value, or field=@path for a file. Repeatable."),
    ] = None,
    file: Annotated[list[Path] | None, typer.Option(help="File for that run. Repeatable.")] = None,
    model: Annotated[str | None, typer.Option(help="provider/name, or offline for the offline builder.")] = None,
    approve: Annotated[bool, typer.Option("--approve", help="Approve the proposed plan.")] = False,
    accept: Annotated[bool, typer.Option("--accept", help="Accept the proposed field edits and components.")] = False,
    session: Annotated[str | None, typer.Option(help="Id of the conversation to continue; see the guide.")] = None,
    new_session: Annotated[
        bool,
        typer.Option(
            "--new-session", help="Start a new conversation, and delete the custom components of the previous one."
        ),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Describe what you want: the assistant builds, edits, explains or runs a flow, and reports what it did."""
    if not request.strip():
        raise Invalid(
            "The request is empty.", remedy='Describe what you want in quotes: headgate ask "a flow that ..."'
        )

    answers = form_answers(form or [])

    async def work(parts: Parts) -> int:
        provider, name = _split(model)
        if new_session:
            workshop, memory = parts.workshop, parts.assistant.conversations
            await reset_session(acting(), session, memory=memory, components=workshop.components)
        file_ids = await store_files(parts, file or [])
        body = checked(
            AssistRequest,
            input_value=request,
            flow_id=await flow_id_of(parts, flow) if flow else None,
            provider=provider,
            model_name=name,
            file_ids=file_ids,
            session_id=session or new_id(),
            apply=True,
        )
        files = {file_id: path.name for file_id, path in zip(file_ids, file or [], strict=True)}
        given = RunInput(text, await with_files(parts, answers), files, requested=run)
        talk = _Talk(parts, Conversation(quiet=json), given, approve=approve, accept=accept)
        async with AsyncExitStack() as stack:
            stack.enter_context(talk.shown.view)
            await talk.play(body)
            if run:
                talk.missed_run = not await talk.run(body.file_ids)
            await talk.read_run()
        if json:
            print_json(talk.shown.final)
        elif talk.shown.data is not None:
            shown = talk.shown
            conclude(
                talk.shown.data,
                accepted=talk.accepted,
                waiting=len(shown.edits),
                plan=bool(shown.plan),
                component=bool(shown.component),
            )
        if talk.missed_run and talk.shown.exit_code == OK:
            errors.print("There is nothing to run: the request did not create a flow.")
            return DECLINED
        return talk.shown.exit_code

    return with_parts(work, quiet="critical")  # errors are shown in the conversation


@dataclass
class _Talk:
    """The turns of one command, including those that follow an approval or accepted edits."""

    parts: Parts
    shown: Conversation
    given: RunInput
    approve: bool
    accept: bool
    accepted: int = 0
    missed_run: bool = False
    """Whether a run was asked for with `--run` and there was nothing to run."""

    async def play(self, body: AssistRequest) -> None:
        """Send the request, and continue with the user's options: approve a plan once, accept the edits once."""
        await self._turn(body)
        if self.shown.plan and self.shown.data is not None and (self.approve or self._agreed("Build this plan?")):
            self.shown.begin()
            await self._turn(self._next(body, PLAN_APPROVAL_INPUT))
        await self._save_components(body)
        data = self.shown.data
        waits = self.shown.edits and data is not None and data["flow_id"]
        if waits and data is not None and (self.accept or self._agreed("Accept the proposed changes?")):
            await self._take_edits(data["flow_id"])
            if data.get("continuation_expected"):
                self.shown.begin()
                await self._turn(
                    self._next(body, EDIT_CONTINUATION_INPUT).model_copy(update={"flow_id": data["flow_id"]})
                )

    async def _save_components(self, body: AssistRequest) -> None:
        """Save each proposed component that the user accepts, and continue with what waited for it."""
        while self.shown.component and self.shown.data is not None:
            component, data = self.shown.component, self.shown.data
            if not (self.accept or self._agreed("Save this component?")):
                return
            saved = await self.parts.workshop.save(acting(), component["code"], component["id"])
            self.shown.saved_component(saved)
            if not data.get("continuation_expected"):
                return
            self.shown.begin()
            await self._turn(self._next(body, COMPONENT_CONTINUATION_INPUT, data["flow_id"]))

    def _agreed(self, question: str) -> bool:
        """Whether the user agrees; without a terminal no question is asked."""
        if not self.shown.answerable:
            return False
        self.shown.view.pause()
        return typer.confirm(question, default=False)

    def _next(self, body: AssistRequest, words: str, flow_id: str | None = None) -> AssistRequest:
        return body.model_copy(update={"input_value": words, "flow_id": flow_id or body.flow_id})

    async def _turn(self, body: AssistRequest) -> None:
        turn_flow = await self.parts.assistant.open(acting(), body, given=self.given)
        try:
            async for event in self.parts.assistant.stream(turn_flow, body):
                self.shown.show(event)
        except asyncio.CancelledError:
            self.shown.end_line()
            console.print("Cancelled. Changes saved so far are kept.", style="yellow")
            raise

    async def _take_edits(self, flow_id: str) -> None:
        """Save the flow with the proposed values. Raises `StaleRevision` when another user changed it meanwhile."""
        request = AssistRequest(input_value=EDIT_CONTINUATION_INPUT, flow_id=flow_id)
        turn_flow = await self.parts.assistant.open(acting(), request)
        if turn_flow.stored is not None:
            await turn_flow.save(_with_edits(turn_flow.stored, self.shown))
        self.accepted, self.shown.edits = len(self.shown.edits), []
        if self.shown.data is not None:
            self.shown.data["revision"] = turn_flow.revision

    async def run(self, file_ids: tuple[str, ...]) -> bool:
        """Run the flow if the turn did not. Returns False when there is none."""
        data = self.shown.data
        if data is None or not data["flow_id"]:
            return False
        if "run_id" in data:
            return True
        outcome = await self.parts.runs.run_draft(
            acting(),
            data["flow_id"],
            text=self.given.text,
            form=with_only_file(Flow.model_validate(data["flow"]), dict(self.given.form), file_ids),
            file_ids=file_ids,
            on_event=lambda _run, kind, detail: self.shown.view.show(kind, detail),
            until_waiting=True,
        )
        data |= {"run_id": outcome.run_id, "run_status": outcome.status, "run": outcome}
        data["verification"] = None  # of the turn, which ended before this run; the run's own status counts now
        return True

    async def read_run(self) -> None:
        """Return the outcome of a turn's run if a model reported it; the offline builder quotes it itself."""
        data = self.shown.data
        if data is not None and data.get("run_id") and "run" not in data and data["model"] != OFFLINE_NAME:
            data["run"] = await self.parts.runs.outcome_of(acting(), data["run_id"])


def _with_edits(flow: Flow, shown: Conversation) -> Flow:
    """The flow with every proposed value; of two for one field the last."""
    values: dict[str, dict[str, object]] = {}
    for edit in shown.edits:
        values.setdefault(edit["component_id"], {})[edit["field"]] = edit["new_value"]
    nodes = [
        node.model_copy(update={"params": {**node.params, **values[node.id]}}) if node.id in values else node
        for node in flow.nodes
    ]
    return Flow.model_validate(
        flow.model_dump(mode="json") | {"nodes": [node.model_dump(mode="json") for node in nodes]}
    )


def _split(model: str | None) -> tuple[str | None, str | None]:
    if model is None or model == "offline":
        return model, None
    provider, slash, name = model.partition("/")
    if not slash or not provider or not name:
        raise Invalid(f"'{model}' is not a model.", remedy="Write provider/name, or offline.")
    return provider, name
