"""The models that steps of a flow may use, as the assistant's model reads it (seed 001, ADR-020; seed 000, ADR-035)."""

from headgate.agents.assistant.models.choice import ModelsAvailable
from headgate.foundation.quoting import quoted

OPENING = "[Available language models (of providers that are ready; there is no order of preference):"
CLOSING = "[End of available language models]"
_RULE = (
    "A step that needs a model (AIStep, Agent and the like) gets one of these as `provider/name`. Such a step may not"
    " run without one."
)
_DEFAULT = (
    "A step that needs a model (AIStep, Agent and the like) uses the default {model} when it names none: leave `model`"
    " out, unless the request asks for another of these, as `provider/name`."
)
_NONE = "None. No step that needs a model can run: say so instead of adding one, and ask for a key."


def models_block(available: ModelsAvailable) -> str:
    """The block with the blank line after it."""
    lines = [f"- {', '.join(f'{provider}/{name}' for name in names)}" for provider, names in available.providers]
    rule = _DEFAULT.format(model=available.default) if available.default else _RULE
    text = "\n".join([*lines, rule]) if lines else _NONE
    return quoted(OPENING, text, CLOSING) + "\n\n"
