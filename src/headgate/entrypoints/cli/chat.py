"""`headgate chat`: conversations with published flows."""

import asyncio
import sys
from collections.abc import AsyncIterator
from typing import Annotated

import typer
from rich.markup import escape

from headgate.entrypoints.cli.exit_codes import FAILED, OK, WAITING
from headgate.entrypoints.cli.flow_choice import FlowArgument, flow_id_of
from headgate.entrypoints.cli.output import JsonFlag, console, print_json, print_rows, when
from headgate.entrypoints.cli.session import acting, with_parts
from headgate.entrypoints.compose import Parts
from headgate.features.runs.chat import service
from headgate.features.runs.chat.feedback import put_feedback
from headgate.features.runs.chat.messages import list_messages, send_message
from headgate.features.runs.chat.schemas import FeedbackIn, MessageIn
from headgate.features.runs.schemas import RunOut
from headgate.features.runs.service import complete_text
from headgate.features.runs.views.client_waits import wait_or_end
from headgate.foundation.checked import checked
from headgate.foundation.errors import Invalid

MOST_SHOWN = 50
app = typer.Typer(add_completion=False)


@app.command()
def chat(
    flow: FlowArgument,
    message: Annotated[str, typer.Argument(help="Message. Without one, each line of the input is a message.")] = "",
    conversation: Annotated[
        str, typer.Option(help="Id of the conversation to continue. Default: a new conversation.")
    ] = "",
    list_: Annotated[bool, typer.Option("--list", help="List your conversations with the flow.")] = False,
    history: Annotated[bool, typer.Option("--history", help="Show the messages of --conversation.")] = False,
    helpful: Annotated[
        bool | None,
        typer.Option("--helpful/--not-helpful", help="Rate the last answer of --conversation, and send nothing."),
    ] = None,
    correction: Annotated[str, typer.Option(help="Correct answer, with a rating.")] = "",
    json: JsonFlag = False,
) -> int:
    """Send messages to a published flow, as in the chat of the page. Each message is a run.

    Editors of the knowledge base that an answer is from make questions of ratings and corrections.

    Exit code 1 if an answer fails, 8 if it waits for an approval or an event.
    """
    _require_conversation(conversation, history=history, helpful=helpful, correction=correction)

    async def work(parts: Parts) -> int:
        flow_id = await flow_id_of(parts, flow)
        if list_:
            return await _list(parts, flow_id, json=json)
        if history:
            return await _show_history(parts, conversation, json=json)
        if helpful is not None:
            return await _rate(
                parts, conversation, checked(FeedbackIn, helpful=helpful, correction=correction), json=json
            )
        conversation_id = conversation or await _begin(parts, flow_id)
        if not json:
            console.print(f"[dim]Conversation {conversation_id}. Continue it: --conversation {conversation_id}[/]")
        code = OK
        async for text in _messages(message):
            run_id = await send_message(
                parts.database, parts.engine, acting(), conversation_id, checked(MessageIn, text=text)
            )
            run = await wait_or_end(parts.engine, acting(), run_id)
            answer = await complete_text(parts.engine, acting(), run) if run.status == "completed" else ""
            if json:
                print_json({"conversation_id": conversation_id, "run_id": run.id, "status": run.status, "text": answer})
            else:
                console.print(escape(_shown(run, answer)), soft_wrap=True)
            code = _code_of(run)
            if code == WAITING:
                break
        return code

    return with_parts(work)


def _require_conversation(conversation: str, *, history: bool, helpful: bool | None, correction: str) -> None:
    """Raise `Invalid` for options that need others."""
    if history and not conversation:
        raise Invalid("--history needs a conversation.", remedy="List them: headgate chat FLOW --list")
    if (helpful is not None and not conversation) or (correction and helpful is None):
        raise Invalid(
            "A rating needs a conversation, and a correction a rating.",
            remedy="headgate chat FLOW --conversation ID --not-helpful --correction TEXT",
        )


async def _list(parts: Parts, flow_id: str, *, json: bool) -> int:
    async with parts.database.reading() as session:
        rows, following = await service.list_conversations(
            session, acting(), flow_id, search="", limit=MOST_SHOWN, before=None
        )
    shown = [(row.id, escape(row.title), when(row.used_at)) for row in rows]
    none = "No conversation yet. Start one: headgate chat FLOW MESSAGE"
    print_rows(rows, ("id", "title", "used"), shown, json=json, none=none)
    _note_more(following, "conversations")
    return OK


async def _show_history(parts: Parts, conversation_id: str, *, json: bool) -> int:
    runs, following = await list_messages(parts.database, parts.engine, acting(), conversation_id, limit=MOST_SHOWN)
    _note_more(following, "messages")
    if json:
        print_json(list(reversed(runs)))
        return OK
    for run in reversed(runs):
        console.print(f"[bold]> {escape(run.input.text)}[/bold]", soft_wrap=True)
        console.print(escape(_shown(run, run.text or "")), soft_wrap=True)
    return OK


async def _rate(parts: Parts, conversation_id: str, feedback_in: FeedbackIn, *, json: bool) -> int:
    """Store what the user thinks of the last answer of a conversation."""
    runs, _ = await list_messages(parts.database, parts.engine, acting(), conversation_id, limit=1)
    async with parts.database.writing() as session:
        rated = await put_feedback(session, acting(), conversation_id, runs[0].id if runs else "", feedback_in)
    if json:
        print_json(rated)
    else:
        console.print(f"Rated: {'helpful' if rated.helpful else 'not helpful'}.")
    return OK


def _note_more(following: str | None, what: str) -> None:
    """Say that there are more than are shown, apart from what a program reads."""
    if following is not None:
        typer.echo(f"The latest {MOST_SHOWN} {what}; the page shows all.", err=True)


async def _begin(parts: Parts, flow_id: str) -> str:
    async with parts.database.writing() as session:
        return (await service.add_conversation(session, acting(), flow_id)).id


async def _messages(message: str) -> AsyncIterator[str]:
    """Yield the message of the command, else each line of the input until it ends."""
    if message:
        yield message
        return
    while True:
        if sys.stdin.isatty():
            console.print("> ", end="")
        line = await asyncio.to_thread(sys.stdin.readline)
        if not line:
            return
        if line.strip():
            yield line.strip()


def _shown(run: RunOut, answer: str) -> str:
    if run.status == "completed":
        return answer
    if run.error is not None:
        return f"Failed: {run.error.message}"
    return f"The run {run.id} is {run.status}."


def _code_of(run: RunOut) -> int:
    if run.status == "completed":
        return OK
    return FAILED if run.status in {"failed", "cancelled"} else WAITING
