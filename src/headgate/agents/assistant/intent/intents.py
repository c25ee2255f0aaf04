"""The seven intents, and the result of classification."""

from dataclasses import dataclass
from typing import Literal, get_args

from headgate.agents.assistant.turn.usage import Tokens

# Sources: `generate_component` and `question` in seed 001, ADR-002; `off_topic` in its ADR-007; `build_flow`
# and `manage_files` in seed 000, section 1 and ADR-012; `component_then_flow` in seed 001's glossary and seed 000's
# scenario "Compound build-component-then-flow-then-run"; `run_flow` in seed 000's glossary (`_RUN_FLOW_RE`).
Intent = Literal[
    "generate_component", "build_flow", "component_then_flow", "run_flow", "manage_files", "question", "off_topic"
]
INTENTS: tuple[Intent, ...] = get_args(Intent)
MAX_OUTPUT_TOKENS = 300
"""Limit of a classification's answer; set by the creator of the model (seed 000, ADR-047)."""
DEFAULT: Intent = "question"
"""The intent when the model's answer names none: it changes nothing."""


@dataclass(frozen=True, slots=True)
class IntentResult:
    """A request's intent, its English translation, and the cost of the classification."""

    intent: Intent
    english: str
    tokens: Tokens
