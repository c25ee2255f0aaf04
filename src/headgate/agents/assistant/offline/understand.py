"""From a request to what to do about it. Pure: no model, no network, no state."""

import re
from dataclasses import dataclass, field
from itertools import pairwise

from headgate.agents.assistant.offline.assemble import Built, assemble
from headgate.agents.assistant.offline.build.difference import actions_between
from headgate.agents.assistant.offline.build.draft import MissingComponent
from headgate.agents.assistant.offline.build.work import CannotBuild, Impossible
from headgate.agents.assistant.offline.choices import nearest, offered
from headgate.agents.assistant.offline.cookbook import BUILDING, EDITS, RUNS
from headgate.agents.assistant.offline.files.requests import file_request, likely_file_request
from headgate.agents.assistant.offline.language.languages import language_of, meaningful
from headgate.agents.assistant.offline.language.messages import message
from headgate.agents.assistant.offline.matching import Reading, find_phrases, readings
from headgate.agents.assistant.offline.phrase import Phrase
from headgate.agents.assistant.offline.questions import answer
from headgate.agents.assistant.offline.reading.data import PACKAGES, Sample
from headgate.agents.assistant.offline.reading.slots import Context
from headgate.agents.assistant.offline.reading.sources import Source
from headgate.agents.assistant.offline.reading.tokens import Tokens, tokenize
from headgate.agents.assistant.offline.ready_made import ready_made, ready_made_otherwise
from headgate.agents.assistant.offline.recipes.outside import NeedsModel
from headgate.agents.assistant.offline.replies import needs_model, quoted, refusal
from headgate.agents.assistant.offline.restate import left_over, restated
from headgate.agents.assistant.offline.understanding import Action, Intent, Understanding
from headgate.features.catalog.words import word_set
from headgate.graph.issues import Issue
from headgate.graph.model import Flow
from headgate.graph.names import listed
from headgate.graph.spec import print_spec
from headgate.graph.template import Catalog
from headgate.graph.validate import check_draft, check_runnable
from headgate.sdk.coerce import clean_text

_PACKAGES = re.compile(r"\b(?:packages|dependencies|librar(?:y|ies)|libs|paket(?:en)?)\b", re.IGNORECASE)
_MARGIN = 0.6
"""Two readings that are this near to each other and build different flows are a question, not an answer."""
MOST_WORDS = 300
"""Words, quoted texts and marks of a request that is read: the time grows with their square."""
_LINKING = word_set(
    "about and as at by for from in into it me my of on or over that then this to when where with"
    " att av det där en ett från för hos i in med mig min mitt mot när och om på sedan som till ur vid"
)
"""Words that say nothing about what was not understood."""


@dataclass
class _Attempt:
    """What came of reading a request with some recipes."""

    built: Built | None = None
    reason: str = ""
    needs: str = ""
    rival: Built | None = None
    issues: list[Issue] = field(default_factory=list)


def understand(  # noqa: PLR0917
    text: str,
    catalog: Catalog,
    flow: Flow,
    default_model: str | None = None,
    sample: Sample | None = None,
    flows: tuple[str, ...] | None = None,
) -> Understanding:
    """What a request asks for and how to do it, given the components, the flow and the data at hand."""
    text = clean_text(text)
    tokens = tokenize(text)
    language = language_of(tokens)
    known = sample or (PACKAGES if _PACKAGES.search(text) else None)
    context = Context(meaningful(tokens, language), language, catalog, flow, known, default_model, flows)
    if not context.tokens.items:
        return _refused(context, message("nothing_asked", language))
    other = file_request(text, flow, catalog)
    if other is None and len(context.tokens.items) > MOST_WORDS:
        too_long = _refused(context, message("too_long", language, most=MOST_WORDS))
        return likely_file_request(text, flow, catalog) or too_long
    other = other or answer(text, context)
    understanding = other or ready_made(context) or _edited(context) or _built(context)
    if understanding.intent == "off_topic":
        understanding = ready_made_otherwise(context) or understanding
    return (
        understanding
        if understanding.actions or understanding.intent == "question"
        else likely_file_request(text, flow, catalog) or understanding
    )


def _edited(context: Context) -> Understanding | None:
    """A change or a run of the flow at hand."""
    ways = [way for way in readings(context, (*EDITS, *RUNS)) if not _begins_anew(way)]
    if not ways:
        return None
    only_run = [way for way in ways if all(phrase.recipe.step.stage == "run" for phrase in way.phrases)]
    if only_run:
        return _run(context, only_run[0].phrases[0])
    if not context.flow.nodes:
        return None
    attempt = _attempt(context, ways, edit=True)
    if attempt.built is None:
        return _refused(context, attempt.reason)
    built = attempt.built
    actions = actions_between(context.flow, built.flow, built.renamed)
    if not actions:
        return _refused(context, message("already_so", context.language))
    actions += (_run_action(built.run),) if built.run is not None else ()
    done = message("changed", context.language, lines="; ".join(built.lines))
    return _understood(context, "edit_flow", built, actions, done)


def _begins_anew(way: Reading) -> bool:
    """Whether a source is named for a step that could as well be put into the flow at hand."""
    values = (value for phrase in way.phrases for value in phrase.slots.values())
    return way.source is not None or any(isinstance(value, Source) for value in values)


def _run(context: Context, phrase: Phrase) -> Understanding:
    if not context.flow.nodes:
        return Understanding("run_flow", message("no_flow_to_run", context.language), language=context.language)
    return Understanding("run_flow", "", (_run_action(phrase),), context.flow, language=context.language)


def _run_action(phrase: Phrase) -> Action:
    slots = phrase.slots
    if "field" in slots:
        return Action("run_flow", {"form": {str(slots["field"]): slots["value"]}})
    return Action("run_flow", {"text": slots["text"]} if "text" in slots else {})


def _built(context: Context) -> Understanding:
    """A new flow."""
    ways = readings(context, (*BUILDING, *RUNS))
    if not ways:
        return _refused(context, _not_understood(context))
    attempt = _attempt(context, ways, edit=False)
    if attempt.needs:
        return Understanding("build_flow", needs_model(attempt.needs, context.language), language=context.language)
    if attempt.built is None:
        return _refused(context, attempt.reason)
    if attempt.rival is not None:
        return _ambiguous(context, attempt.built, attempt.rival)
    built = attempt.built
    actions = (Action("build_flow", {"spec": print_spec(built.flow)}), *([_run_action(built.run)] if built.run else []))
    done = message("built_name", context.language, name=built.flow.name)
    return _understood(context, "build_flow", built, actions, done)


def _understood(
    context: Context, intent: Intent, built: Built, actions: tuple[Action, ...], done: str
) -> Understanding:
    hints = built.hints if intent == "build_flow" else None
    restatement = restated(built.lines, context.language)
    return Understanding(intent, "", actions, built.flow, restatement, done, hints, context.language)


def _attempt(context: Context, ways: list[Reading], *, edit: bool) -> _Attempt:
    """Build the readings, best first; the first that can be built, restated in full and run is taken."""
    attempt = _Attempt()
    best = 0.0
    for way in ways:
        if attempt.built is not None and way.score < best - _MARGIN:
            break
        reason = _missing_columns(context, way) or _counted_twice(context, way)
        try:
            built = assemble(way, context, edit=edit) if not reason else None
        except NeedsModel as model:
            attempt.needs = attempt.needs or (str(model) if not attempt.reason and attempt.built is None else "")
            continue
        except Impossible as error:
            return attempt if attempt.built is not None else _Attempt(reason=str(error))
        except (CannotBuild, MissingComponent) as error:
            reason, built = str(error), None
        if built is not None:
            reason = _fault(context, built, edit=edit)
        if reason or built is None:
            attempt.reason = attempt.reason or reason
        elif attempt.built is None:
            attempt.built, best = built, way.score
        elif attempt.rival is None and _shape(built.flow) != _shape(attempt.built.flow):
            attempt.rival = built
    return attempt


def _shape(flow: Flow) -> object:
    return sorted((node.type, str(sorted(node.params.items()))) for node in flow.nodes), len(flow.edges)


def _counted_twice(context: Context, way: Reading) -> str:
    """A count before another count: how many words a number has is not what anyone asks for."""
    pairs = pairwise(way.phrases)
    twice = any(a.recipe.key == "count_rows" and b.recipe.key.startswith("count") for a, b in pairs)
    return message("count_one_thing", context.language) if twice else ""


def _missing_columns(context: Context, way: Reading) -> str:
    names = list(dict.fromkeys(name for phrase in way.phrases for name in phrase.missing))
    if not names or context.sample is None or context.sample.columns is None:
        return ""
    there = listed([f"'{name}'" for name in context.sample.columns], most=30)
    known = context.sample.name
    return message("missing_columns", context.language, name=known, missing=quoted(names), columns=there)


def _fault(context: Context, built: Built, *, edit: bool) -> str:
    """Why a flow that was put together is not what was asked for; empty when it is."""
    ran = [built.run.recipe.describe(built.run.slots, context.language)] if built.run is not None else []
    left = left_over(context.tokens, [*built.lines, *ran])
    if left:
        ignored = quoted(left)
        return message("left_over", context.language, said=ignored)
    if edit:
        before = {(issue.code, issue.field) for issue in check_draft(context.flow, context.catalog)}
        issues = [
            issue for issue in check_draft(built.flow, context.catalog) if (issue.code, issue.field) not in before
        ]
    else:
        issues = check_runnable(built.flow, context.catalog)
    return str(issues[0].message) if issues else ""


def _ambiguous(context: Context, built: Built, rival: Built) -> Understanding:
    """Two meanings that are as near: both are said, and nothing is built."""
    first, second = ("; ".join(each.lines) for each in (built, rival))
    both = message("ambiguous", context.language, first=first, second=second)
    return Understanding("build_flow", both, language=context.language)


def _not_understood(context: Context) -> str:
    """Which words no recipe takes; where each is taken, that they do not fit together."""
    phrases = find_phrases(context, BUILDING)
    taken = {at for stretch in phrases.values() for phrase in stretch for at in range(phrase.start, phrase.end)}
    words = [
        token.text
        for at, token in enumerate(context.tokens.items)
        if at not in taken and token.kind not in {"comma", "stop"} and token.text.lower() not in _LINKING
    ]
    return message("not_understood" if words else "parts_do_not_fit", context.language, words=quoted(words))


def _refused(context: Context, reason: str) -> Understanding:
    near = nearest(context.tokens.text, context.language)
    text = refusal(reason, near, context.language)
    return Understanding("off_topic", text, language=context.language, choices=tuple(offered(near, context.language)))


__all__ = ["Tokens", "understand"]
