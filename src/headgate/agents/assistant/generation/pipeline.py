"""Generates one component from a description: the model writes, the sandbox checks, errors are sent back.

generating_component -> generation_complete -> extracting_code -> validating -> validated
-> validation_failed -> retrying -> ...
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Protocol

from headgate.agents.assistant.generation.extraction import class_name_of, extract_component_code
from headgate.agents.assistant.turn.turn import Turn
from headgate.agents.assistant.turn.usage import BudgetSpent
from headgate.features.catalog.own.checked import CheckedComponent
from headgate.features.catalog.own.errors import ComponentNotMade, ComponentNotPossible
from headgate.foundation.quoting import clipped_to
from headgate.sdk.answers import is_cut

if TYPE_CHECKING:  # LangChain is imported with the first request
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.runnables import RunnableConfig

DEFAULT_MAX_RETRIES = 3
_ALONE: "RunnableConfig" = {"callbacks": []}
"""The loop that calls the tool listens to every model beneath it; what this one writes is not for the chat."""
_NO_CODE = "Could not extract class name from code: the answer holds no Python code that defines a component."
_NO_CODE_REMEDY = "Answer with one fenced Python block that holds a class deriving from headgate.sdk.Component."
_CUT = "The answer was truncated: the model reached its output limit before the code was complete."
_CUT_REMEDY = "Write a shorter component: less text, shorter docstrings, one task."
_IMPOSSIBLE = re.compile(r"^[*_# ]*NOT POSSIBLE\b[*_]*\s*:?\s*(\S.*)", re.MULTILINE | re.DOTALL)
_LONGEST_REASON = 1_000


class ComponentChecker(Protocol):
    """Scans code, and inspects it in the sandbox."""

    async def check(self, tenant_id: str, code: str) -> CheckedComponent:
        """Return the properties of the code. Raises `ComponentNotMade` with every finding."""


@dataclass(frozen=True, slots=True)
class Generated:
    """A component that passed."""

    checked: CheckedComponent
    attempts: int
    answer: str
    """The model's complete answer."""


@dataclass(slots=True)
class Generation:
    """The attempts at one component.

    Args:
        model: The generating model.
        checker: Checks the code.
        turn: The turn of the request; receives every stage, and counts the tokens.
        max_retries: Attempts in total.
    """

    model: "BaseChatModel"
    checker: ComponentChecker
    turn: Turn
    max_retries: int = DEFAULT_MAX_RETRIES

    async def generate(self, description: str) -> Generated:
        """Let the model write until it passes.

        Raises:
            ComponentNotPossible: The model explains why no component can do it; it is not called again.
            ComponentNotMade: No attempt passed; the last one's findings, its code and the number of attempts.
            BudgetSpent: The turn may use no more.
            HeadgateError: The model is not available; the caller may choose another one.
        """
        most = max(1, self.max_retries)
        prompt = description
        for attempt in range(1, most + 1):
            self.turn.metrics.generation_attempt(attempt, most)
            self.turn.stage("generating_component", attempt=attempt, max_attempts=most)
            answer = await self._ask(prompt)
            code = self._extract(answer.text, attempt, most)
            try:
                checked = await self._check(code, answer, attempt, most)
            except ComponentNotPossible:
                raise
            except ComponentNotMade as error:
                problems = findings_text(error)
                self._failed(problems, code, attempt, most)
                if attempt == most:
                    raise exhausted(error, code, attempt) from error
                self.turn.stage("retrying", attempt=attempt, max_attempts=most, error=problems)
                prompt = retry_prompt(description, error=problems, code=code)
            else:
                return self._passed(checked, answer.text, attempt, most)
        raise AssertionError("unreachable")

    async def _ask(self, prompt: str) -> "AIMessage":
        """One call of the model; its tokens count whether or not the code passes."""
        turn = self.turn
        turn.spend_model_call()
        _require_going_on(turn)
        answer = await self.model.ainvoke([("system", PROMPT), ("human", prompt)], config=_ALONE)
        usage = answer.usage_metadata
        if usage is not None:
            turn.spend_tokens(usage["input_tokens"], usage["output_tokens"])
        return answer

    def _extract(self, answer: str, attempt: int, most: int) -> str:
        self.turn.stage("generation_complete", attempt=attempt, max_attempts=most)
        self.turn.stage("extracting_code", attempt=attempt, max_attempts=most)
        return extract_component_code(answer) or ""

    async def _check(self, code: str, answer: "AIMessage", attempt: int, most: int) -> CheckedComponent:
        impossible = None if code else _IMPOSSIBLE.search(answer.text)
        if impossible is not None:
            self.turn.metrics.validation_exhausted(impossible[1], attempt, "")
            raise ComponentNotPossible(
                f"Not possible as a component: {' '.join(impossible[1].split())[:_LONGEST_REASON]}",
                remedy="Ask for a part of it that a component can do.",
                findings=[],
                attempts=attempt,
            )
        if not code:
            raise ComponentNotMade(_NO_CODE, remedy=_NO_CODE_REMEDY, findings=[])
        if is_cut(answer):
            raise ComponentNotMade(_CUT, remedy=_CUT_REMEDY, findings=[])
        self.turn.stage("validating", attempt=attempt, max_attempts=most, **_named(class_name_of(code)))
        return await self.checker.check(self.turn.principal.tenant_id, code)

    def _passed(self, checked: CheckedComponent, answer: str, attempt: int, most: int) -> Generated:
        self.turn.metrics.validation_succeeded(checked.type, attempt)
        self.turn.stage(
            "validated",
            attempt=attempt,
            max_attempts=most,
            class_name=checked.type,
            component_code=checked.code,
        )
        return Generated(checked, attempt, answer)

    def _failed(self, problems: str, code: str, attempt: int, most: int) -> None:
        name = class_name_of(code)
        if attempt == most:
            self.turn.metrics.validation_exhausted(problems, attempt, code)
        else:
            self.turn.metrics.validation_failed(problems, attempt, name)
        self.turn.stage(
            "validation_failed",
            attempt=attempt,
            max_attempts=most,
            error=problems,
            component_code=code,
            **_named(name),
        )


def findings_text(error: ComponentNotMade) -> str:
    """Return every finding on its own line: line of the code, problem, remedy."""
    findings = error.extra.get("findings")
    lines = (
        [_finding(finding) for finding in findings if isinstance(finding, Mapping)]
        if isinstance(findings, list)
        else []
    )
    return "\n".join(lines) or str(error)


def exhausted(error: ComponentNotMade, code: str, attempts: int) -> ComponentNotMade:
    """Return the last attempt's error, with remedies for the user."""
    times = "1 attempt" if attempts == 1 else f"{attempts} attempts"
    return ComponentNotMade(
        f"No working component after {times}. The last error: {error.detail}",
        remedy=f"Describe the inputs and outputs more precisely, or correct the code yourself. {error.remedy}".strip(),
        **(error.extra | {"attempts": attempts, "component_code": code, "class_name": class_name_of(code)}),
    )


def _require_going_on(turn: Turn) -> None:
    """Raise `BudgetSpent` when the turn was stopped: no further model call or check."""
    if turn.stopped:
        raise BudgetSpent(turn.stop_note, remedy="Ask for the component again, in a shorter request.")


def _finding(finding: Mapping[str, object]) -> str:
    line = finding.get("line")
    where = f"line {line}: " if line else ""
    return f"{where}{finding.get('message', '')}. {finding.get('remedy', '')}".strip()


def _named(name: str) -> dict[str, str]:
    return {"class_name": name} if name else {}


_HERE = Path(__file__).parent
PROMPT = (_HERE / "prompt.md").read_text(encoding="utf-8")
"""How to write a component: the system prompt."""
_RETRY = Template((_HERE / "retry.md").read_text(encoding="utf-8"))
MAX_ERROR_CHARS = 4_000
MAX_CODE_CHARS = 30_000


def retry_prompt(request: str, *, error: str, code: str) -> str:
    """Return the request with the errors of the last attempt.

    Args:
        request: The original request.
        error: Every finding, a line each.
        code: The code that failed; empty when the answer contained none.
    """
    return _RETRY.substitute(
        request=request, error=clipped_to(error, MAX_ERROR_CHARS), code=clipped_to(code, MAX_CODE_CHARS) or "(no code)"
    )
