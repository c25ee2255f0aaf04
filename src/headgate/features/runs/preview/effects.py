"""What a step would change or read outside the run, in one sentence. Pure."""

from collections.abc import Callable, Mapping
from typing import Final

from pydantic import JsonValue

from headgate.graph.plan import PlanStep

LONGEST = 300
Params = Mapping[str, JsonValue]


def effect_of(step: PlanStep) -> str:
    """Return what a step would do, as far as its fields are written; empty when it only computes."""
    sentence = _SENTENCES.get(step.node.type)
    return "" if sentence is None else sentence(step.node.params)[:LONGEST]


def _written(params: Params, name: str, default: str) -> str:
    """Return the text of a field as it is written, references included."""
    value = params.get(name)
    return " ".join(str(value).split())[:100] if isinstance(value, str | int | float) and value != "" else default


def _over(params: Params, field: str) -> str:
    return f"with the connection '{_written(params, field, '?')}'"


def _mail(params: Params) -> str:
    subject = _written(params, "subject", "from the run")
    return f"Sends a mail to {_written(params, 'to', '?')}, subject '{subject}', {_over(params, 'server')}."


def _read_mail(params: Params) -> str:
    marks = " and marks them as read" if params.get("mark_seen") is True else ", which changes nothing"
    most, folder = _written(params, "most_messages", "20"), _written(params, "folder", "INBOX")
    return f"Reads up to {most} messages of {folder} {_over(params, 'mailbox')}{marks}."


def _notify(params: Params) -> str:
    return f"Sends a notification {_over(params, 'service')}."


def _query(params: Params) -> str:
    return f"Reads rows of a database in a read-only transaction {_over(params, 'database')}."


def _write(params: Params) -> str:
    mode = _written(params, "mode", "insert")
    target = "one statement for each row" if mode == "statement" else f"table {_written(params, 'table', '?')}"
    return f"Changes a database ({mode}, {target}) {_over(params, 'database')}."


def _schema(params: Params) -> str:
    return f"Reads the tables and columns of a database {_over(params, 'database')}."


def _stored(default: str) -> Callable[[Params], str]:
    def sentence(params: Params) -> str:
        return f"Stores the file '{_written(params, 'name', default)}'."

    return sentence


_SENTENCES: Final[Mapping[str, Callable[[Params], str]]] = {
    "SendMail": _mail,
    "ReadMail": _read_mail,
    "Notify": _notify,
    "SqlQuery": _query,
    "SqlWrite": _write,
    "SqlSchema": _schema,
    "SaveFile": _stored("result.txt"),
    "MakeDocument": _stored("document"),
    "WriteSpreadsheet": _stored("tables.xlsx"),
    "Chart": _stored("chart"),
    "QRCode": _stored("qr-code"),
    "CreateArchive": _stored("files.zip"),
    "CreateCalendar": _stored("calendar.ics"),
}
