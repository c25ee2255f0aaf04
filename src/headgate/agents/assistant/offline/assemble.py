"""From a reading to a flow and its restatement."""

from collections.abc import Iterator
from dataclasses import dataclass

from headgate.agents.assistant.offline.build.draft import Draft
from headgate.agents.assistant.offline.build.work import CannotBuild, Hints, Work
from headgate.agents.assistant.offline.language.languages import Language
from headgate.agents.assistant.offline.language.messages import message
from headgate.agents.assistant.offline.matching import Reading
from headgate.agents.assistant.offline.phrase import Phrase
from headgate.agents.assistant.offline.reading.slots import Context
from headgate.agents.assistant.offline.reading.sources import Source, source_of
from headgate.agents.assistant.offline.recipe import STAGES
from headgate.agents.assistant.offline.recipes.outside import show
from headgate.foundation.quoting import shortened
from headgate.graph.model import Flow

_TABLE_STAGES = ("filter", "dedupe", "compute", "group", "sort", "limit", "columns")
_BY_POSITION = frozenset(
    {
        "first_rows",
        "last_rows",
        "nth_rows",
        "drop_first_rows",
        "drop_last_rows",
        "first_per_group",
        "first_lines",
        "last_lines",
        "nth_lines",
        "drop_first_lines",
        "drop_last_lines",
    }
)
_LONGEST_NAME = 60
_SOURCE_FOR = {"table": "table", "text": "text", "any": "text", "form": "form", "none": "text"}


@dataclass(frozen=True, slots=True)
class Built:
    """A flow, and its description, one line per step."""

    flow: Flow
    lines: tuple[str, ...]
    hints: Hints
    renamed: dict[str, str]
    run: Phrase | None


def assemble(reading: Reading, context: Context, *, edit: bool = False) -> Built:
    """Build the flow of a reading. Raises `CannotBuild`, `NeedsModel` and `MissingComponent`."""
    run = next((phrase for phrase in reading.phrases if phrase.recipe.step.stage == "run"), None)
    phrases = [phrase for phrase in reading.phrases if phrase.recipe.step.stage != "run"]
    steps = list(ordered(phrases, reading.breaks, context.language))
    if not edit and phrases and all(phrase.recipe.step.stage == "around" for phrase in phrases):
        raise CannotBuild(message("no_flow_yet", context.language))
    source = _source(phrases, context, reading.source)
    draft = Draft(context.catalog, context.flow if edit else None)
    work = Work(draft, context, source, frozenset(phrase.recipe.key for phrase in steps))
    lines = []
    for phrase in steps:
        line = phrase.recipe.describe(phrase.slots, context.language)
        draft.label = line
        more = phrase.recipe.step.build(work, phrase.slots)
        line = phrase.recipe.describe({**phrase.slots, **more}, context.language) if isinstance(more, dict) else line
        if phrase.recipe.key != "source":
            lines.append(line)
    if not edit:
        lines = _begun(work, lines)
        if not work.ended:
            draft.label = ""
            show(work, {})
            lines.append(work.text_of("show_result"))
    name = context.tokens.text.strip().split("\n")[0]
    flow = (
        draft.flow()
        if edit
        else draft.flow(shortened(name[:1].upper() + name[1:], _LONGEST_NAME).replace(" …", "…"), "\n".join(lines))
    )
    return Built(flow, tuple(lines), work.hints, work.renamed, run)


def _begun(work: Work, lines: list[str]) -> list[str]:
    """Return the lines with the source before them, if the flow starts from one."""
    if work.started is None:
        if work.source.words and not (work.uses_form and work.source.kind == "form"):
            raise work.cannot("source_unused")
        return lines
    source = work.source.describe(work.context.language)
    return [f"{work.text_of('start_from')} {source}", *lines]


def _source(phrases: list[Phrase], context: Context, lifted: Source | None) -> Source:
    """Return the flow's source: the stated one, else the input of its first step. Raises `CannotBuild` for two."""
    named = [value for phrase in phrases for value in phrase.slots.values() if isinstance(value, Source)]
    named += [lifted] if lifted is not None else []
    if context.sample is None or not context.sample.text:  # `packages whose name ...` names its source
        rows = [source_of(str(phrase.slots.get("rows", "")), context.language, None) for phrase in phrases]
        named += [source for source in rows if source is not None and source.kind == "packages"]
    kinds = {source.kind for source in named}
    if kinds in ({"table", "file"}, {"table", "text"}):
        named, kinds = [source for source in named if source.kind == "table"], {"table"}
    if len(kinds) > 1:
        raise CannotBuild(message("several_sources", context.language))
    if named:
        return _for_table(named[0], phrases)
    takes = next((phrase.recipe.step.takes for phrase in phrases if phrase.recipe.step.takes != "none"), "none")
    kind = _SOURCE_FOR[takes]
    if context.sample is not None and context.sample.text and kind in {"table", "text"}:
        kind = "table" if context.sample.columns is not None else "file"
    return Source(kind, "")  # type: ignore[arg-type]


def _for_table(source: Source, phrases: list[Phrase]) -> Source:
    """Convert `the file` to a table file if its operation requires a table."""
    first = next(
        (phrase.recipe for phrase in phrases if phrase.recipe.key != "source" and phrase.recipe.step.takes != "none"),
        None,
    )
    wants_table = first is not None and first.step.takes == "table" and source.kind == "file"
    return Source("table", source.words) if wants_table else source


def ordered(phrases: list[Phrase], breaks: tuple[int, ...], language: Language) -> Iterator[Phrase]:
    """The phrases in the order in which they are done.

    Operations on table rows within one sentence have a fixed order: filter, group, sort, limit. Raises
    `CannotBuild` when rows are taken by their position before a sort that may have been meant to come first.
    """
    waiting: list[Phrase] = []
    outputs: list[Phrase] = []
    named: list[Phrase] = []
    for phrase in phrases:
        if phrase.recipe.step.stage == "output" or phrase.slots.get("step"):
            (named if phrase.slots.get("step") else outputs).append(phrase)
            continue
        if phrase.recipe.step.stage not in _TABLE_STAGES or any(  # noqa: SIM102
            _last_end(waiting) <= at < phrase.start for at in breaks
        ):
            if phrase.recipe.step.stage != "source" or any(each.recipe.step.takes == "text" for each in waiting):
                yield from _sorted(waiting, language)
                waiting = []
        if phrase.recipe.step.stage in _TABLE_STAGES:
            waiting.append(phrase)
        else:
            yield phrase
    yield from _sorted(waiting, language)
    yield from outputs
    yield from named  # when every step is there


def _last_end(phrases: list[Phrase]) -> int:
    return phrases[-1].end if phrases else 0


def _sorted(phrases: list[Phrase], language: Language) -> list[Phrase]:
    keys = [phrase.recipe.key for phrase in phrases]
    positions = [at for at, key in enumerate(keys) if key in _BY_POSITION]
    sorts = [at for at, phrase in enumerate(phrases) if phrase.recipe.step.stage == "sort"]
    if positions and sorts and positions[0] < sorts[-1]:
        raise CannotBuild(message("sort_before_or_after", language))
    return sorted(phrases, key=lambda phrase: STAGES.index(phrase.recipe.step.stage))
