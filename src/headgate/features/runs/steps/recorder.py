"""Records a step's evidence: prompts, model parameters, tokens, tool calls, log lines. Bounded."""

from collections.abc import Mapping

import orjson
from pydantic import JsonValue

from headgate.features.models.chain import Miss
from headgate.features.runs.transitions import Json, StepRecord
from headgate.foundation.log import redact
from headgate.foundation.secret_values import without_secrets
from headgate.graph.ports import PortType
from headgate.sdk import Model
from headgate.sdk.coerce import ValueMismatch, clean_text, encode
from headgate.sdk.outside import Marks

MOST_ENTRIES = 500
"""Most log lines and tool calls stored per step."""
LONGEST_REASON = 1_000
"""Characters kept of the reason why a model did not answer."""
LONGEST_TEXT = 65_536
"""Characters stored of one log line or one tool call's result, and a quarter of those stored of the prompts."""
_BETWEEN_PROMPTS = "\n\n--- next call ---\n\n"


class Recorder:
    """The record of one attempt at a step."""

    def __init__(self) -> None:
        self._prompts: list[str] = []
        self._models: list[dict[str, JsonValue]] = []
        self._missed: list[JsonValue] = []
        """Models that did not answer, with the reason and what they used."""
        self._tool_calls: list[JsonValue] = []
        self._log: list[JsonValue] = []
        self._left_out = self._more_prompts = self._more_calls = 0
        self.tokens_input: int | None = None
        self.tokens_output: int | None = None
        self.model_calls = 0
        self._replayed = [0, 0, 0]
        """Number of replayed model calls, and their input and output tokens, paid by earlier attempts."""
        self.classification: int | None = None
        """Classification of the step's output, when classifications are enabled."""
        self.saved_file_ids: list[str] = []
        self.input: dict[str, JsonValue] = {}
        """Input of the step from its policy, without values of edges."""
        self.outside: Marks = ()
        """Origins of the untrusted content that reached the step."""
        self.read_input = False
        """Whether the step's component, or an attachment, read the run's input."""

    def prompt(self, text: str) -> None:
        """Record a prompt as it was sent."""
        if len(self._prompts) < MOST_ENTRIES:
            self._prompts.append(_cut(text))
        else:
            self._more_prompts += 1

    def usage(self, model: Model, input_tokens: int | None, output_tokens: int | None) -> None:
        """Record one model call."""
        self.model_calls += 1
        self.add_unrecorded_tokens(input_tokens, output_tokens)
        self.used_model(model)

    def add_unrecorded_tokens(self, input_tokens: int | None, output_tokens: int | None) -> None:
        """Add tokens that an earlier attempt used but did not record."""
        self.tokens_input = _plus(self.tokens_input, input_tokens)
        self.tokens_output = _plus(self.tokens_output, output_tokens)

    def replayed(self, input_tokens: int | None, output_tokens: int | None) -> None:
        """Record a replayed model call. It adds no tokens."""
        for index, more in enumerate((1, input_tokens or 0, output_tokens or 0)):
            self._replayed[index] += more
        self.add_unrecorded_tokens(0, 0)

    def used_model(self, model: Model) -> None:
        """Record that a model was used."""
        used: dict[str, JsonValue] = {"provider": model.provider, "name": model.name, **redact(dict(model.params))}
        if used not in self._models:
            self._models.append(used)

    def missed(self, miss: Miss, at: int) -> dict[str, JsonValue]:
        """Record that a model of a fallback chain did not answer. Returns the line of the log."""
        entry: dict[str, JsonValue] = {
            "model": str(miss.model),
            "code": miss.error.code,
            "message": redact(_cut(miss.error.detail, LONGEST_REASON)),
        }
        if miss.tokens != (None, None):
            self.usage(miss.model, *miss.tokens)
            entry |= {"tokens_input": miss.tokens[0], "tokens_output": miss.tokens[1]}
        if len(self._missed) < MOST_ENTRIES:
            self._missed.append(entry)
        following = f"{miss.following} is asked." if miss.following is not None else "No other model is left."
        return self.line(f"{miss.model} did not answer: {miss.error.detail} {following}", {}, at)

    def tool_call(
        self,
        name: str,
        arguments: Mapping[str, JsonValue],
        result: JsonValue = None,
        *,
        server: str = "",
        error: str = "",
        ms: float | None = None,
        replayed: bool = False,
    ) -> None:
        """Record a tool call with its result or error."""
        if len(self._tool_calls) < MOST_ENTRIES:
            call: dict[str, JsonValue] = {"name": _cut(name), "arguments": _bounded(dict(arguments))}
            if server:
                call |= {"server": server, "tool": _cut(name.removeprefix(f"{server}."))}
            call |= {"error": _cut(error)} if error else {"result": _bounded(result)}
            if ms is not None:
                call["ms"] = ms
            if replayed:
                call["replayed"] = True
            self._tool_calls.append(redact(call))
        else:
            self._more_calls += 1

    def line(self, message: str, details: Mapping[str, JsonValue], at: int) -> dict[str, JsonValue]:
        """Record a log line. Returns it as stored."""
        log_line: dict[str, JsonValue] = {"at": at, "message": redact(_cut(message))}
        if details:
            log_line["details"] = redact(_bounded(dict(details)))
        if len(self._log) < MOST_ENTRIES:
            self._log.append(log_line)
        else:
            self._left_out += 1
        return log_line

    def as_record(self, output_payload: Json | None = None, execution_hash: str | None = None) -> StepRecord:
        """Return the columns of the step's row."""
        seen = (self._prompts, self._models, self._missed, self._tool_calls, self._log, self.input)
        if not (any(seen) or any(self._replayed)):
            return StepRecord(output_payload, execution_hash=execution_hash, classification=self.classification)
        log: list[JsonValue] = list(self._log)
        if self._left_out:
            log.append({"message": f"{self._left_out} more lines"})
        calls = list(self._tool_calls)
        if self._more_calls:
            calls.append({"name": "", "arguments": {}, "error": f"{self._more_calls} more calls omitted"})
        prompts = _BETWEEN_PROMPTS.join(self._prompts)
        if self._more_prompts:
            prompts += f"{_BETWEEN_PROMPTS}[{self._more_prompts} more prompts omitted]"
        return StepRecord(
            output_payload=output_payload,
            input_payload=_json(self.input),
            effective_prompt=_cut(prompts, 4 * LONGEST_TEXT) or None,
            model_parameters=_json(self._model_parameters()),
            tool_calls=_json(calls),
            log=_json(log),
            tokens_input=self.tokens_input,
            tokens_output=self.tokens_output,
            execution_hash=execution_hash,
            classification=self.classification,
        )

    def _model_parameters(self) -> dict[str, JsonValue]:
        """The models that answered with their parameters, those that failed, and the counts of replayed calls."""
        parameters: dict[str, JsonValue] = {}
        if self._models:
            parameters = dict(self._models[0]) if len(self._models) == 1 else {"models": [*self._models]}
        if self._missed:
            parameters["failed"] = [*self._missed]
        calls, tokens_input, tokens_output = self._replayed
        if calls:
            parameters["replayed"] = {"calls": calls, "tokens_input": tokens_input, "tokens_output": tokens_output}
        return parameters


def _json(value: JsonValue) -> Json | None:
    return orjson.dumps(without_secrets(value)).decode() if value else None


def _plus(sum_: int | None, more: int | None) -> int | None:
    return sum_ if more is None else (sum_ or 0) + more


def _cut(text: str, limit: int = LONGEST_TEXT) -> str:
    clean = clean_text(without_secrets(text))
    return clean if len(clean) <= limit else clean[:limit] + f" [{len(clean)} characters in all]"


def _bounded(value: object) -> JsonValue:
    """Return the value if it is JSON and small enough, else its beginning as text."""
    try:
        bounded = without_secrets(encode(value, PortType.DATA))
    except ValueMismatch:
        return _cut(str(value))
    if isinstance(bounded, int | float | bool) or bounded is None:
        return bounded
    text = orjson.dumps(bounded)
    return bounded if len(text) <= LONGEST_TEXT else _cut(text.decode())
