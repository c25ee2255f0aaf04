"""Honest answers to what cannot be done offline."""

from collections.abc import Sequence

from headgate.agents.assistant.offline.assembly.workshop import Workshop
from headgate.agents.assistant.offline.intents.build import Built
from headgate.agents.assistant.offline.intents.catalogue import CatalogueIndex
from headgate.agents.assistant.offline.language.reading import Reading
from headgate.agents.assistant.offline.replies import CONNECT, NAME, lack, needs_model, quoted, refusal
from headgate.agents.assistant.offline.understanding import Understanding
from headgate.graph.issues import Issue

_MOST_EXAMPLES = 3


def refuse(reading: Reading, index: CatalogueIndex, reason: str = "", *, model: bool = False) -> Understanding:
    """A request that is not about flows, or not understood."""
    examples = [recipe.examples[0] for recipe in index.near(reading.text[:500], _MOST_EXAMPLES)]
    if model:
        reason = f"it takes a language model, and I am the {NAME}. {CONNECT}"
    left = tuple(reading.left_out()) or ((reading.text.strip()[:200],) if reading.text.strip() else ())
    reason = reason or (f"I did not understand {quoted(left)}." if left else "there was nothing to read.")
    return Understanding("off_topic", refusal(reason, examples), left_out=left, coverage=reading.coverage())


def refuse_built(built: Built, index: CatalogueIndex, issues: Sequence[Issue]) -> Understanding:
    """A request of which too little was understood, or whose flow could not run."""
    reading, shop = built.reading, built.shop
    lacking = [part for part in shop.lacking if ":" in part]
    if lacking:
        reason = " ".join(lack(part) for part in lacking)
    elif issues:
        reason = f"the steps I understood do not make a flow that runs: {issues[0].message}"
    else:
        return refuse(reading, index)
    examples = [recipe.examples[0] for recipe in index.near(reading.text[:500], _MOST_EXAMPLES)]
    left = (*(part.partition(":")[2] for part in lacking), *reading.left_out())
    return Understanding("build_flow", refusal(reason, examples), left_out=left, coverage=reading.coverage())


def without_model(reading: Reading, shop: Workshop) -> Understanding:
    """A part needs a language model and none is configured: say so and build nothing half."""
    steps = [node.label or node.type for node in shop.draft.nodes.values() if node.type != "ChatOutput"]
    rest = ", then ".join([*steps, *(f"'{part}'" for part in shop.needs_model)])
    reply = needs_model(shop.needs_model, rest)
    return Understanding(
        "build_flow",
        reply,
        needs_model=tuple(shop.needs_model),
        left_out=tuple(reading.left_out()),
        coverage=reading.coverage(),
    )
