"""Step policies at run time: source of the main input, bindings, input and output contracts."""

import re
from collections.abc import Mapping
from typing import Any, cast

from pydantic import BaseModel, JsonValue

from headgate.features.runs.errors import ContractBroken, PolicyUnmet
from headgate.features.runs.steps.active import ActiveRun
from headgate.features.runs.steps.context import StepContext
from headgate.features.runs.steps.ledger import Outputs
from headgate.features.runs.steps.planned import PlannedStep
from headgate.features.runs.steps.recorder import Recorder
from headgate.foundation.errors import UpstreamFailed
from headgate.foundation.log import redact_text
from headgate.foundation.quoting import clipped_to
from headgate.graph.contracts import Contract, canonical_contract, contract_outputs, violations
from headgate.graph.fences import first_block
from headgate.graph.interpolate import interpolate, resolve
from headgate.graph.json_values import parse_json
from headgate.graph.model import HttpCall, InputSource, InputType, OutputType
from headgate.graph.ports import PortType
from headgate.graph.secret_reference import SecretReference
from headgate.graph.template import FieldTemplate
from headgate.sdk import File, HttpAnswer, Message
from headgate.sdk.coerce import clean_text, coerce, data_of, decode, describe, text_of

Context = Mapping[str, JsonValue]
_FILE_INPUTS = frozenset({InputType.IMAGE, InputType.AUDIO, InputType.DOCUMENT, InputType.FILE})
_TEXT_MEDIA = re.compile(r"text/.*|application/((.*\+)?(json|xml)|x-ndjson|yaml|javascript)", re.IGNORECASE)
_JSON_MEDIA = re.compile(r"application/(.*\+)?json", re.IGNORECASE)
LONGEST_INPUT_KEPT = 1_048_576
"""Characters of a fetched input that are stored with the step."""


class InputPolicy:
    """Applies one step's input policy.

    Args:
        run: The run.
        step: The step.
        context: Values of `{{...}}`.
        ctx: The step's run context: HTTP, secrets, files.
        recorder: Records the policy inputs.
    """

    def __init__(
        self, run: ActiveRun, step: PlannedStep, context: Context, *, ctx: StepContext, recorder: Recorder
    ) -> None:
        self._run = run
        self._step = step
        self._policy = step.step.policy
        self._context = context
        self._ctx = ctx
        self._recorder = recorder

    async def apply(self, values: dict[str, Any]) -> None:
        """Set the main input and the bindings, then check them. Raises `Invalid`, or what fetching raises."""
        template = self._step.step.template
        main, input_source = template.main_field, self._policy.input_source
        reads_it = main is None and input_source is InputSource.FLOW_INPUT and template.reads_input
        if input_source is not InputSource.PREVIOUS_STEP and not reads_it:
            if main is None:
                raise PolicyUnmet(
                    f"Step '{self._step.id}' has no input that '{self._policy.input_source}' can fill.",
                    remedy="Set its input source to previous_step.",
                )
            value, source = await self._main_input(main)
            arrived = coerce(value, source, main.types)
            values[main.name] = [arrived] if main.many else arrived
        self._bind(values)
        if main is not None:
            self._check(values.get(main.name))

    async def _main_input(self, main: FieldTemplate) -> tuple[Any, PortType]:
        source = self._policy.input_source
        self._recorder.input["source"] = source.value
        if source is InputSource.FLOW_INPUT:
            return self._flow_input(main)
        if source is InputSource.ALL_PREVIOUS_STEPS:
            return self._all_previous(main)
        call = self._policy.input_config
        if call is None:
            raise PolicyUnmet(
                f"Step '{self._step.id}' reads its input from a URL, but none is set.", remedy="Set its URL."
            )
        return await self._fetch(call, "GET" if source is InputSource.HTTP_GET else "POST", main)

    def _flow_input(self, main: FieldTemplate) -> tuple[Any, PortType]:
        """Return the run's input in the type of the field."""
        run_input = self._run.input
        if self._policy.input_type in _FILE_INPUTS or PortType.FILE in main.types:
            if not run_input.files:
                raise PolicyUnmet(
                    f"Step '{self._step.label}' requires a file, but the run has none.",
                    remedy="Start the run with a file.",
                )
            if PortType.FILE in main.types:
                return run_input.files[0], PortType.FILE
            return Message(role="user", text=run_input.text, files=run_input.files), PortType.MESSAGE
        if PortType.TEXT in main.types:
            return run_input.text, PortType.TEXT
        if PortType.MESSAGE in main.types:
            return Message(role="user", text=run_input.text, files=run_input.files), PortType.MESSAGE
        return {"text": run_input.text, **run_input.form_data}, PortType.DATA

    def _all_previous(self, main: FieldTemplate) -> tuple[Any, PortType]:
        """Return the output of every earlier step that has one, each in a numbered block (seed 002).

        For a field that takes a message, the steps' files are attached.
        """
        plan = self._run.planned.plan
        blocks: list[str] = []
        files: list[JsonValue] = []
        for step_id in plan.ancestors(self._step.id):
            step = plan.step(step_id)
            outputs = self._run.ledger.results.get(step_id, {})
            main_output = step.template.main_output
            if main_output is not None and main_output.name in outputs:
                value = decode(outputs[main_output.name], main_output.type)
                text = text_of(value)
                blocks.append(f"<step_{step.order}_output>\n{text}\n</step_{step.order}_output>")
                files_found = _files(value)
                files += [
                    file for file in (files_found if isinstance(files_found, list) else [files_found]) if _is_file(file)
                ]
        text = "\n".join(blocks)
        if not files or PortType.MESSAGE not in main.types:
            return text, PortType.TEXT
        return Message(
            role="user", text=text, files=tuple(File.model_validate(file) for file in files)
        ), PortType.MESSAGE

    async def _fetch(self, call: HttpCall, method: str, main: FieldTemplate) -> tuple[Any, PortType]:
        url = str(interpolate(call.url, self._context))
        body = str(interpolate(call.body, self._context, json_safe=True)) if method == "POST" else None
        headers = {name: await self._header(value, url) for name, value in call.headers.items()}
        if method == "POST" and not any(name.lower() == "content-type" for name in headers):
            headers["content-type"] = "application/json"
        await self._ctx.check_cancelled()
        response = await self._ctx.http.request(
            method, url, headers=headers, body=body, timeout_seconds=call.timeout_seconds
        )
        display_url = redact_text(url)
        self._recorder.input |= {"url": display_url, "status": response.status, "media_type": response.media_type}
        if response.status >= 400:
            raise UpstreamFailed(
                f"Step '{self._step.id}': {display_url} answered {response.status}.",
                remedy="Check the URL and headers.",
            )
        return await self._read_answer(response, main)

    async def _read_answer(self, response: HttpAnswer, main: FieldTemplate) -> tuple[Any, PortType]:
        """Return a response as text, as data if the field only takes data, or as a file."""
        if _TEXT_MEDIA.fullmatch(response.media_type):
            text = clean_text(response.text)
            self._recorder.input["text"] = clipped_to(text, LONGEST_INPUT_KEPT)
            if _JSON_MEDIA.fullmatch(response.media_type) and PortType.TEXT not in main.types:
                return self._as_json(text), PortType.DATA
            return text, PortType.TEXT
        name = response.url.rpartition("/")[2].partition("?")[0][:120] or "download"
        file = await self._ctx.files.save(name, response.content, response.media_type)
        self._recorder.input["file_id"] = file.id
        return file, PortType.FILE

    async def _header(self, value: str | SecretReference, url: str) -> str:
        """Return a header's value: the secret that it refers to, else its text with `{{...}}` resolved."""
        if isinstance(value, str):
            return str(interpolate(value, self._context))
        return value.filled((await self._ctx.secret(value, url=url)).get_secret_value())

    def _bind(self, values: dict[str, Any]) -> None:
        bound = {name: resolve(text, self._context) for name, text in self._policy.input_bindings.items()}
        if bound:
            values |= bound
            self._recorder.input["bindings"] = bound

    def _check(self, value: object) -> None:
        kind = self._policy.input_type
        if kind is InputType.JSON and isinstance(value, str):
            self._as_json(value)
        elif kind in _FILE_INPUTS:
            self._keep(value, {"type": kind.value})
        if self._policy.input_contract is not None:
            self._keep(value, self._policy.input_contract)

    def _keep(self, value: object, contract: Contract) -> None:
        require_contract(subject_of(value, contract), contract, f"the input of step '{self._step.id}'")

    def _as_json(self, text: str) -> JsonValue:
        try:
            return parse_json(without_fence(text))
        except ValueError as error:
            raise PolicyUnmet(
                f"The input of step '{self._step.id}' is not JSON: {error}.", remedy="Set its input type to any."
            ) from error


def shape_output(step: PlannedStep, outputs: dict[str, JsonValue]) -> Outputs:
    """Return the outputs in the form that the step's policy requires. Raises `PolicyUnmet` or `ContractBroken`."""
    policy, name = step.step.policy, step.step.main_output
    if name is None or name not in outputs:
        return outputs
    value = outputs[name]
    types = dict(step.outputs)
    if policy.output_type is OutputType.JSON and isinstance(value, str):
        unfenced = without_fence(value)
        try:
            parsed = parse_json(unfenced)
        except ValueError as error:
            raise PolicyUnmet(
                f"The output of step '{step.id}' is not JSON: {error}.",
                remedy="Ask for JSON in the prompt, or set the step's output type to text.",
            ) from error
        for output, type_ in step.outputs:
            if type_ is PortType.DATA and outputs.get(output) == value:
                outputs[output] = parsed  # the same answer as data, like AIStep's
        outputs[name] = value = parsed if types[name] is PortType.DATA else unfenced
    if policy.output_contract is not None:
        for covered in contract_outputs(policy, name, step.outputs):
            if covered in outputs:
                subject_name = "the output" if covered == name else f"the output '{covered}'"
                subject = subject_of(decode(outputs[covered], types[covered]), policy.output_contract)
                require_contract(subject, policy.output_contract, f"{subject_name} of step '{step.id}'")
    return outputs


def subject_of(value: object, contract: Contract) -> JsonValue:
    """Return a port value as the JSON that a contract describes: parsed, as text, or as a file."""
    kind = canonical_contract(contract)["type"]
    if kind == "text":
        return value if isinstance(value, str) else text_of(value)
    if kind != "json":
        return _files(value)
    if isinstance(value, Message):
        value = value.text
    if isinstance(value, str):
        try:
            return parse_json(without_fence(value))
        except ValueError:
            return value
    return data_of(value)


def require_contract(subject: JsonValue, contract: Contract, subject_name: str) -> None:
    """Raise `ContractBroken` with the JSON path of each violation."""
    contract_violations = violations(subject, contract)
    if contract_violations:
        details: list[JsonValue] = [
            {"path": violation.path, "message": violation.message} for violation in contract_violations
        ]
        raise ContractBroken(
            f"{subject_name[:1].upper()}{subject_name[1:]} violates its contract: {contract_violations[0]}.",
            remedy="Change the step, or the contract.",
            violations=details,
        )


def without_fence(text: str) -> str:
    """Return the content of the first Markdown code block, else the text itself, trimmed."""
    block = first_block(text)
    return (text if block is None else block).strip()


def _is_file(value: JsonValue) -> bool:
    return isinstance(value, dict) and "media_type" in value and "id" in value


def _files(value: object) -> JsonValue:
    if isinstance(value, Message):
        value = list(value.files)
    if isinstance(value, list):
        return [_files(item) for item in value]
    if isinstance(value, File):
        return cast("JsonValue", value.model_dump(mode="json"))
    return data_of(value) if isinstance(value, BaseModel) else describe(value)
