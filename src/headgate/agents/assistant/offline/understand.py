"""From a request to what to do about it. Pure: no model, no network, no state."""

from collections import Counter

from headgate.agents.assistant.offline.assembly.draft import MissingComponent
from headgate.agents.assistant.offline.assembly.workshop import Workshop
from headgate.agents.assistant.offline.editing.difference import actions_between
from headgate.agents.assistant.offline.editing.editor import asks_for_new, edit
from headgate.agents.assistant.offline.files.requests import likely_file_request
from headgate.agents.assistant.offline.intents.build import Built, build
from headgate.agents.assistant.offline.intents.catalogue import CatalogueIndex, index_of
from headgate.agents.assistant.offline.intents.elsewhere import other_request
from headgate.agents.assistant.offline.intents.questions import answer
from headgate.agents.assistant.offline.intents.recipes import matching_recipe
from headgate.agents.assistant.offline.intents.refusals import refuse, refuse_built, without_model
from headgate.agents.assistant.offline.intents.runs import RunRequest, take_run
from headgate.agents.assistant.offline.language.reading import Reading
from headgate.agents.assistant.offline.language.segments import segments
from headgate.agents.assistant.offline.language.tokens import Kind
from headgate.agents.assistant.offline.replies import notes
from headgate.agents.assistant.offline.understanding import Action, Understanding
from headgate.graph.model import Flow
from headgate.graph.spec import print_spec
from headgate.graph.template import Catalog
from headgate.graph.validate import check_draft, check_runnable
from headgate.sdk.coerce import clean_text

_PLAIN = frozenset({Kind.WORD, Kind.STOP, Kind.COMMA, Kind.COLON, Kind.SYMBOL, Kind.NUMBER})
_LEAST_COVERAGE = 0.5
"""Share of the meaningful words that must be understood before anything is built."""


def understand(text: str, catalog: Catalog, flow: Flow, default_model: str | None = None) -> Understanding:
    """What a request asks for and how to do it, given the components and the flow at hand."""
    index = index_of(catalog)
    text = clean_text(text)
    reading = Reading(text)
    if not reading.tokens:
        return refuse(reading, index)
    found = (
        other_request(reading, text, index, flow)
        or answer(reading.again(), catalog, index, flow)
        or _run(reading.again(), flow)
        or _edit(reading.again(), catalog, flow, default_model)
        or _build(reading.again(), catalog, index, default_model)
    )
    if (found.actions and not found.left_out) or found.needs_model or found.intent == "question":
        return found
    return likely_file_request(text, flow, catalog) or found


def _run(reading: Reading, flow: Flow) -> Understanding | None:
    """Only to run what is there."""
    request, left = take_run(reading, segments(reading))
    if request is None or any(reading.is_content(at) for clause in left for at in range(clause.start, clause.end)):
        return None
    if not flow.nodes:
        return Understanding("run_flow", "There is no flow to run yet. Describe one and I build it.", coverage=1.0)
    return Understanding("run_flow", "", (_run_action(request),), flow, coverage=1.0)


def _run_action(request: RunRequest) -> Action:
    return Action("run_flow", request.arguments())


def _edit(reading: Reading, catalog: Catalog, flow: Flow, default_model: str | None) -> Understanding | None:
    if not flow.nodes or asks_for_new(reading):
        return None
    run, clauses = take_run(reading, segments(reading))
    try:
        change = edit(reading, clauses, flow, catalog, default_model)
    except MissingComponent:
        return None
    if change is None:
        return None
    shop, edited = change.shop, change.edited
    if shop is not None and shop.needs_model:
        return without_model(reading, shop)
    left_out = tuple(reading.left_out())
    if reading.coverage() < _LEAST_COVERAGE or _faults(edited.flow, catalog) - _faults(flow, catalog):
        return None
    actions = actions_between(flow, edited.flow, edited.renamed)
    if run is not None:
        actions = (*actions, _run_action(run))
    said = notes(shop.assumed if shop else (), left_out, shop.lacking if shop else ())
    return Understanding(
        "edit_flow",
        said,
        actions,
        edited.flow,
        tuple(shop.assumed) if shop else (),
        left_out,
        coverage=reading.coverage(),
        done=edited.done,
    )


def _faults(flow: Flow, catalog: Catalog) -> Counter[tuple[str, str]]:
    """Kinds of faults: one that the draft had before is none of an edit's, whatever its node is called by then."""
    return Counter((issue.code, issue.field) for issue in check_draft(flow, catalog))


def _build(reading: Reading, catalog: Catalog, index: CatalogueIndex, default_model: str | None) -> Understanding:
    try:
        built = build(reading, catalog, default_model)
    except MissingComponent as missing:
        return refuse(reading, index, f"the component {missing} that this needs is not there.")
    recipe = matching_recipe(built, index)
    if recipe is not None:
        return recipe
    if built.shop.needs_model:
        return without_model(built.reading, built.shop) if built.is_flow else refuse(built.reading, index, model=True)
    if not _is_sound(built) or check_runnable(built.flow, catalog):
        return refuse_built(built, index, check_runnable(built.flow, catalog) if _is_sound(built) else [])
    return _as_built(built, built.shop)


def _is_sound(built: Built) -> bool:
    """Whether enough was understood, and what was makes a flow."""
    reading = built.reading
    return (
        built.is_flow
        and reading.coverage() > _LEAST_COVERAGE
        and _names_something(reading)
        and not _mostly_lacking(built)
    )


def _names_something(reading: Reading) -> bool:
    """Whether the request names anything that flows work on, or a literal value."""
    literal = any(token.kind not in _PLAIN for token in reading.tokens)
    numbers = sum(token.kind is Kind.NUMBER for token in reading.tokens) > 1
    column = any(reading.mark(at, "n.column") is not None and not reading.is_action(at) for at in range(len(reading)))
    named = reading.find(0, len(reading), "s.", "t.", "u.", "f.", "v.wait") is not None
    return literal or numbers or column or named


def _mostly_lacking(built: Built) -> bool:
    """Whether what cannot be done weighs more than what can."""
    reading = built.reading
    lacking = {at for start, end in built.shop.lacking_at for at in range(start, end)}
    if not lacking:
        return False
    content = [at for at in range(len(reading)) if reading.is_content(at)]
    done = [at for at in content if at in reading.used and at not in lacking]
    return len(done) <= _LEAST_COVERAGE * len(content)


def _as_built(built: Built, shop: Workshop) -> Understanding:
    actions = [Action("build_flow", {"spec": print_spec(built.flow)})]
    if built.run is not None:
        actions.append(_run_action(built.run))
    left_out = tuple(built.reading.left_out())
    return Understanding(
        "build_flow",
        notes(shop.assumed, left_out, shop.lacking),
        tuple(actions),
        built.flow,
        tuple(shop.assumed),
        left_out,
        coverage=built.reading.coverage(),
        done=f"Built '{built.flow.name}'.",
    )
