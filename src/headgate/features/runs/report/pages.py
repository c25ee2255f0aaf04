"""The text of an audit report: Markdown with everything that an auditor asks for, and no secret. Pure."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from headgate.features.runs.report.figures import price, tokens, took
from headgate.features.runs.report.markdown import block, facts, plain, table
from headgate.features.runs.report.steps import other_pages, step_pages
from headgate.features.runs.report.subject import Ran, Subject

DIAGRAM = "diagram"
"""Name under which the text finds its drawing."""


def report(subject: Subject) -> str:
    """The whole text, from the first heading on."""
    return "\n\n".join(part for part in _parts(subject) if part) + "\n"


def _parts(subject: Subject) -> Iterator[str]:
    words = subject.words
    yield _about(subject)
    yield f"## {words['diagram']}"
    yield f"![{words['diagram_alt']}]({DIAGRAM})"
    if subject.ran is not None:
        yield from _run(subject, subject.ran)
    yield f"## {words['form']}"
    yield _form(subject)
    yield f"## {words['steps']}"
    if not subject.wiring.steps:
        yield words["no_steps"]
    yield from step_pages(subject)
    yield from other_pages(subject)


def _about(subject: Subject) -> str:
    words, flow, frozen = subject.words, subject.wiring.flow, subject.frozen
    content = words["draft"].format(revision=subject.revision)
    if frozen is not None:
        name = "version" if frozen.release is None else "release"
        content = words[name].format(version=frozen.version, release=frozen.release)
    rows = [
        (words["flow"], plain(subject.mask.text(flow.name))),
        (words["description"], plain(subject.mask.text(flow.description))),
        (words["id"], plain(subject.flow_id)),
        (words["creator"], plain(subject.creator)),
        (words["created"], _when(subject.created_at)),
        (words["changed"], _when(subject.updated_at)),
        (words["content"], plain(content)),
    ]
    if frozen is not None:
        rows += [
            (words["version_made"], _when(frozen.made_at)),
            (words["published"], _when(frozen.released_at)),
            (words["note"], plain(subject.mask.text(frozen.notes))),
            (words["checksum"], plain(frozen.checksum)),
            (words["logic_checksum"], plain(frozen.logic_checksum)),
            (words["headgate"], plain(frozen.headgate_version)),
        ]
    settings = flow.settings
    if settings.input_classification is not None:
        rows.append((words["input_class"], f"K{settings.input_classification}"))
    if settings.data_retention_days is not None:
        rows.append((words["retention"], words["days"].format(count=settings.data_retention_days)))
    rows.append((words["printed"], _when(subject.printed_at)))
    return facts(rows, (words["what"], words["value"]))


def _form(subject: Subject) -> str:
    words, fields = subject.words, subject.wiring.flow.form
    if not fields:
        return words["no_form"]
    head = [words[name] for name in ("field", "label", "type", "required", "private", "options")]
    rows = [
        (
            plain(field.id),
            plain(field.label),
            plain(field.type),
            words["yes"] if field.required else "",
            words["yes"] if field.private else "",
            plain(", ".join(field.options)),
        )
        for field in fields
    ]
    return table(head, rows)


def _run(subject: Subject, ran: Ran) -> Iterator[str]:
    words, entry = subject.words, ran.entry
    yield f"## {words['run']}"
    status = str(entry["status"])
    by_status: dict[str, int] = {}
    for step in ran.steps.values():
        by_status[step["status"]] = by_status.get(step["status"], 0) + 1
    counts = ", ".join(f"{count} {words.get(name, name)}" for name, count in by_status.items())
    error = entry.get("error")
    rows = [
        (words["id"], plain(str(entry["flow_run_id"]))),
        (words["result"], words["passed" if status == "completed" else "not_passed"]),
        (words["status"], plain(words.get(status, status))),
        (words["error"], plain(f"{error['message']} ({error['code']})") if error else ""),
        (words["steps_count"], plain(counts)),
        (words["started_by"], plain(ran.started_by)),
        (words["started"], plain(str(entry.get("started_at") or ""))),
        (words["finished"], plain(str(entry.get("finished_at") or ""))),
        (words["took"], took(ran.total.ms)),
        (words["tokens"], tokens(ran.total)),
        (words["cost"], price(ran.total, words["unknown"])),
        (words["seal"], plain(str(ran.seal.get("head", "")))),
        (words["signed"], plain(str(ran.seal.get("key_id", "")))),
    ]
    yield facts(rows, (words["what"], words["value"]))
    yield from _given(subject, entry.get("input") or {})


def _given(subject: Subject, given: Mapping[str, Any]) -> Iterator[str]:
    words = subject.words
    answers = given.get("form_data") or {}
    files = [str(file.get("name") or file.get("id")) for file in given.get("files") or ()]
    if not (given.get("text") or answers or files):
        return
    yield f"### {words['given']}"
    if given.get("text"):
        yield block(str(given["text"]), cut_off=words["cut_off"])
    if answers:
        withheld = words["withheld"]
        yield facts(
            [(name, plain(withheld if _is_withheld(value) else str(value))) for name, value in answers.items()],
            (words["field"], words["value"]),
        )
    if files:
        yield f"{words['files']}: {plain(', '.join(files))}"


def _is_withheld(value: object) -> bool:
    return isinstance(value, dict) and "withheld" in value


def _when(moment: datetime | None) -> str:
    return "" if moment is None else plain(f"{moment:%Y-%m-%d %H:%M:%S} UTC")
