"""The text of an audit report: Markdown without secrets. Pure."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from headgate.features.runs.report.figures import budget, price, retries, seconds, tokens, took, used
from headgate.features.runs.report.history import when
from headgate.features.runs.report.markdown import block, facts, plain, table
from headgate.features.runs.report.steps import other_pages, step_pages
from headgate.features.runs.report.subject import Ran, Subject
from headgate.features.runs.report.words import Words
from headgate.graph.model import FormField

DIAGRAM = "diagram"
"""Name that the text uses for its diagram."""


def report(subject: Subject) -> str:
    """Return the complete text, from the first heading on."""
    return "\n\n".join(part for part in _parts(subject) if part) + "\n"


def _parts(subject: Subject) -> Iterator[str]:
    labels = subject.words
    yield _about(subject)
    yield f"## {labels['diagram']}"
    yield f"![{labels['diagram_alt']}]({DIAGRAM})"
    if subject.ran is not None:
        yield from _run(subject, subject.ran)
    yield f"## {labels['form']}"
    yield _form(subject)
    yield f"## {labels['steps']}"
    if not subject.wiring.steps:
        yield labels["no_steps"]
    yield from step_pages(subject)
    yield from other_pages(subject)


def _about(subject: Subject) -> str:
    labels, flow, frozen = subject.words, subject.wiring.flow, subject.frozen
    content = labels["draft"].format(revision=subject.revision)
    if frozen is not None:
        name = "version" if frozen.release is None else "release"
        content = labels[name].format(version=frozen.version, release=frozen.release)
    rows = [
        (labels["flow"], plain(subject.mask.text(flow.name))),
        (labels["description"], plain(subject.mask.text(flow.description))),
        (labels["id"], plain(subject.flow_id)),
        (labels["creator"], plain(subject.creator)),
        (labels["created"], _when(subject.created_at)),
        (labels["changed"], _when(subject.updated_at)),
        (labels["content"], plain(content)),
    ]
    if frozen is not None:
        rows += [
            (labels["version_made"], _when(frozen.made_at)),
            (labels["published"], _when(frozen.released_at)),
            (labels["note"], plain(subject.mask.text(frozen.notes))),
            (labels["checksum"], plain(frozen.checksum)),
            (labels["logic_checksum"], plain(frozen.logic_checksum)),
            (labels["headgate"], plain(frozen.headgate_version)),
        ]
    rows += [*_settings(subject), (labels["printed"], _when(subject.printed_at))]
    return facts(rows, (labels["what"], labels["value"]))


def _settings(subject: Subject) -> Iterator[tuple[str, str]]:
    """Return what the flow's settings say about data, failures and limits."""
    labels, settings = subject.words, subject.wiring.flow.settings
    if settings.input_classification is not None:
        yield labels["input_class"], f"K{settings.input_classification}"
    if settings.data_retention_days is not None:
        yield labels["retention"], labels["days"].format(count=settings.data_retention_days)
    yield labels["step_retries"], retries(labels, settings.retry)
    yield labels["step_limit"], seconds(labels, settings.step_timeout_seconds)
    yield labels["deadline"], seconds(labels, settings.run_deadline_seconds)
    yield labels["run_budget"], budget(labels, settings.run_budget)
    yield labels["daily_budget"], budget(labels, settings.daily_budget)
    yield labels["runs_at_once"], str(settings.max_concurrent_runs or "")
    yield labels["error_flow"], plain(subject.mask.text(settings.error_flow))
    yield labels["priority"], str(settings.priority or "").replace("-", "\\-")


def _form(subject: Subject) -> str:
    labels, fields = subject.words, subject.wiring.flow.form
    if not fields:
        return labels["no_form"]
    head = [labels[name] for name in ("field", "label", "type", "required", "private", "options")]
    rows = [
        (
            plain(field.id),
            plain(field.label),
            plain(field.type + _bounds(field)),
            labels["yes"] if field.required else "",
            labels["yes"] if field.private else "",
            plain(", ".join(field.options)),
        )
        for field in fields
    ]
    return table(head, rows)


def _bounds(field: FormField) -> str:
    if field.min is None and field.max is None:
        return ""
    return f" {'' if field.min is None else f'{field.min:g}'}..{'' if field.max is None else f'{field.max:g}'}"


def _run(subject: Subject, ran: Ran) -> Iterator[str]:
    labels, entry = subject.words, ran.entry
    yield f"## {labels['run']}"
    status = str(entry["status"])
    by_status: dict[str, int] = {}
    for step in ran.steps.values():
        by_status[step["status"]] = by_status.get(step["status"], 0) + 1
    counts = ", ".join(f"{count} {labels.get(name, name)}" for name, count in by_status.items())
    error = entry.get("error")
    rows = [
        (labels["id"], plain(str(entry["flow_run_id"]))),
        (labels["result"], labels["passed" if status == "completed" else "not_passed"]),
        (labels["status"], plain(labels.get(status, status))),
        (labels["error"], plain(f"{error['message']} ({error['code']})") if error else ""),
        (labels["steps_count"], plain(counts)),
        (labels["started_by"], plain(ran.started_by)),
        *_causes(labels, entry),
        (labels["started"], plain(when(entry.get("started_at")))),
        (labels["finished"], plain(when(entry.get("finished_at")))),
        (labels["worked"], took(ran.total.ms)),
        (labels["budgets_used"], plain("; ".join(used(labels, use) for use in ran.budgets))),
        (labels["tokens"], tokens(ran.total)),
        (labels["cost"], price(ran.total, labels["unknown"])),
        (labels["seal"], plain(str(ran.seal.get("head", "")))),
        (labels["signed"], plain(str(ran.seal.get("key_id", "")))),
    ]
    yield facts(rows, (labels["what"], labels["value"]))
    yield from _given(subject, entry.get("input") or {})


def _causes(labels: Words, entry: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Return the trigger or step that started the run, and its pauses and deadline."""
    trigger, parent = entry.get("trigger"), entry.get("parent")
    if trigger:
        occurrence = labels["occurrence"].format(id=trigger.get("occurrence_id", ""))
        yield labels["trigger"], plain(f"{trigger.get('name', '')} ({trigger.get('kind', '')}), {occurrence}")
    if parent:
        number = (parent["iteration"] or 0) + 1
        yield (
            labels["parent"],
            plain(labels["parent_of"].format(step=parent["step_id"], run=parent["run_id"], number=number)),
        )
    pauses = [
        labels["pause_of"].format(since=when(pause["paused_at"]), until=when(pause["continued_at"]) or labels["still"])
        for pause in entry.get("pauses", ())
    ]
    yield labels["pauses"], plain("; ".join(pauses))
    if not entry.get("finished_at"):
        yield labels["due"], plain(when(entry.get("deadline_at")))


def _given(subject: Subject, run_input: Mapping[str, Any]) -> Iterator[str]:
    labels = subject.words
    answers = run_input.get("form_data") or {}
    files = [str(file.get("name") or file.get("id")) for file in run_input.get("files") or ()]
    if not (run_input.get("text") or answers or files):
        return
    yield f"### {labels['given']}"
    if run_input.get("text"):
        yield block(str(run_input["text"]), cut_off=labels["cut_off"])
    if answers:
        withheld = labels["withheld"]
        yield facts(
            [(name, plain(withheld if _is_withheld(value) else str(value))) for name, value in answers.items()],
            (labels["field"], labels["value"]),
        )
    if files:
        yield f"{labels['files']}: {plain(', '.join(files))}"


def _is_withheld(value: object) -> bool:
    return isinstance(value, dict) and "withheld" in value


def _when(moment: datetime | None) -> str:
    return "" if moment is None else plain(f"{moment:%Y-%m-%d %H:%M:%S} UTC")
