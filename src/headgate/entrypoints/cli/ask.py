"""`headgate ask`: the assistant in a terminal."""

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from headgate.agents.assistant.schemas import AssistRequest
from headgate.entrypoints.cli.exit_codes import DECLINED, FAILED, OK
from headgate.entrypoints.cli.files import store_files
from headgate.entrypoints.cli.flow_choice import flow_id_of
from headgate.entrypoints.cli.output import console, print_json
from headgate.entrypoints.cli.run_view import RunView, show_outcome
from headgate.entrypoints.cli.session import acting, with_parts
from headgate.entrypoints.compose import Parts
from headgate.foundation.errors import Invalid

app = typer.Typer(add_completion=False)
_SHOWN_ACTIONS = {
    "add_component": "+ {node[id]} ({node[type]})",
    "remove_component": "- {component_id}",
    "connect": "→ {edge[source]}.{edge[output]} -> {edge[target]}.{edge[input]}",
    "disconnect": "× {edge[source]}.{edge[output]} -> {edge[target]}.{edge[input]}",
    "configure": "= {component_id}: {params}",
    "rename_component": "~ {component_id} is now {new_id}",
}


@app.command()
def ask(
    request: Annotated[str, typer.Argument(help="What you want, in your words.")],
    flow: Annotated[str | None, typer.Option("--flow", "-f", help="Id or name of the flow to work on.")] = None,
    run: Annotated[bool, typer.Option("--run", help="Run the flow when it is built or edited.")] = False,
    text: Annotated[str, typer.Option(help="Text input of that run.")] = "",
    file: Annotated[list[Path] | None, typer.Option(help="File for that run; may be given again.")] = None,
    model: Annotated[str | None, typer.Option(help="provider/name, or offline for the offline builder.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Answer as JSON, for programs.")] = False,
) -> int:
    """Say what you want: the assistant builds, edits, explains or runs a flow, and says what it did."""

    async def work(parts: Parts) -> int:
        conversation = _Conversation(quiet=json)
        provider, name = _split(model)
        body = AssistRequest(
            input_value=request,
            flow_id=await flow_id_of(parts, flow) if flow else None,
            provider=provider,
            model_name=name,
            file_ids=await store_files(parts, file or []),
            apply=True,
        )
        async with AsyncExitStack() as stack:
            stack.enter_context(conversation.view)
            desk = await parts.assistant.open(acting(), body)
            async for event in parts.assistant.stream(desk, body):
                conversation.show(event)
            data = conversation.data
            if data is not None and run and data["flow_id"] and "run_id" not in data:
                outcome = await parts.runs.run_draft(
                    acting(),
                    data["flow_id"],
                    text=text,
                    form={},
                    file_ids=body.file_ids,
                    on_event=lambda _run, kind, detail: conversation.view.show(kind, detail),
                )
                data |= {"run_id": outcome.run_id, "run_status": outcome.status, "run": outcome}
        if json:
            print_json(conversation.final)
        elif data is not None:
            _conclude(data)
        return conversation.exit_code

    return with_parts(work)


class _Conversation:
    """Renders the events of a turn."""

    def __init__(self, *, quiet: bool) -> None:
        self.view = RunView(None if quiet else console)
        self.final: dict[str, Any] = {}
        self._quiet = quiet
        self._said = False

    @property
    def data(self) -> dict[str, Any] | None:
        """What `complete` said; None when the turn ended otherwise."""
        found: dict[str, Any] | None = self.final.get("data") if self.final.get("event") == "complete" else None
        return found

    @property
    def exit_code(self) -> int:
        """0 when the turn, and the run if there was one, ended well; 7 when the assistant says that it did nothing."""
        data = self.data
        if data is not None and data["declined"]:
            return DECLINED
        return OK if data is not None and data.get("run_status", "completed") == "completed" else FAILED

    def show(self, event: dict[str, Any]) -> None:
        """Take one event."""
        kind = event["event"]
        if kind in {"complete", "error", "cancelled"}:
            self.final = event
        if self._quiet:
            return
        if kind == "token":
            self.view.pause()
            console.print(event["chunk"], end="", markup=False)
            self._said = True
            return
        if self._said:
            console.print()
            self._said = False
        if kind == "run_update":
            self.view.show(event["kind"], event["data"])
        elif kind == "progress":
            self.view.stage(event["message"])
        elif kind == "flow_preview":
            console.print()
            console.print(event["graph"], markup=False)
            console.print()
        elif kind == "flow_update" and event["action"] in _SHOWN_ACTIONS:
            console.print("  " + _SHOWN_ACTIONS[event["action"]].format(**event), markup=False)
        elif kind == "error":
            console.print(f"[red]{escape(event['message'])}[/] {escape(event.get('remedy', ''))}")


def _conclude(data: dict[str, Any]) -> None:
    if data.get("run") is not None:
        show_outcome(data["run"])
    for issue in data["issues"]:
        console.print(f"[yellow]to mend:[/] {escape(issue['message'])} [dim]{escape(issue.get('remedy', ''))}[/]")
    if data["kept_version"] is not None:
        kept = f"headgate flows restore {data['flow_id']} {data['kept_version']}"
        console.print(f"[yellow]The flow was replaced.[/] What it was before: {kept}")
    usage = data["usage"]
    parts = [f"{data['model']}", f"{usage['total_tokens']} tokens", f"{data['duration_seconds']:.2f} s"]
    console.print(f"\n[dim]{' · '.join(parts)}[/]")
    if data["flow_id"]:
        saved = f"revision {data['revision']}" if data["saved"] else "not saved"
        console.print(f"[dim]flow {data['flow_id']} ({saved})[/]")
    if data.get("run_id"):
        console.print(f"[dim]evidence: headgate runs evidence {data['run_id']}[/]")


def _split(model: str | None) -> tuple[str | None, str | None]:
    if model is None or model == "offline":
        return model, None
    provider, slash, name = model.partition("/")
    if not slash or not provider or not name:
        raise Invalid(f"'{model}' is not a model.", remedy="Write provider/name, or offline.")
    return provider, name
