"""The grammar of the flow text for models, generated from the classes that parse it, so that it is always current.

Names, values and defaults come from the classes; `_WORDS` describes each briefly, and a test compares the two.
A test builds every example.
"""

from collections.abc import Iterator, Mapping
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, JsonValue
from pydantic.fields import FieldInfo

from headgate.features.models.params import ModelParams
from headgate.graph.cases import Expectation, TestCase
from headgate.graph.model import (
    Budget,
    Concurrency,
    FlowSettings,
    FormField,
    HttpCall,
    RetryPolicy,
    StepPolicy,
    ToolApproval,
)
from headgate.graph.secret_reference import EXAMPLE
from headgate.toolkit.tool import Result
from headgate.toolkit.workbench import Workbench

Topic = Literal["text", "references", "form", "policy", "contracts", "settings", "models", "tests"]
_WORDS: Mapping[type[BaseModel], Mapping[str, str]] = {
    StepPolicy: {
        "input_source": "where the main input comes from: edges, the run's input, all steps before, a web request",
        "input_type": "what the main input must be",
        "input_config": "the web request of http_get and http_post: url, headers, body, timeout_seconds",
        "input_contract": "what the main input must satisfy",
        "input_bindings": "field: '{{...}}', filled just before the step runs; wins over edges and values",
        "output_mode": "http_post also sends the output to output_config",
        "output_type": "json: the main output must be JSON; pdf, docx: it also becomes a file, the output `document`",
        "output_config": "the web request of output_mode http_post",
        "output_contract": "what the main output must satisfy",
        "output_classification_override": "sensitivity level of the output",
        "tool_policy": "restricted: only the tools in tool_allowlist",
        "tool_allowlist": "names of tools: calculator, server.tool",
        "tool_approval": "tools whose calls users approve",
        "outside_content": "whether content from outside may decide on calls that leave the installation",
        "outside_allowlist": "tools and hosts for which it may where the rest is refused",
        "retry": "new attempts after a failure",
        "timeout_seconds": "limit of one attempt",
        "total_timeout_seconds": "limit of all attempts with their delays",
        "on_error": "what follows then: the run fails; default_value or the error (code, message, step, attempt, and"
        " input, the values of its fields) becomes the main output; or only the additional output `error` is taken,"
        " which needs an edge",
        "default_value": "main output of on_error default_value",
        "concurrency": "limit of steps with the same key at the same time",
        "disabled": "not executed: its main input becomes its outputs, or it is skipped",
    },
    RetryPolicy: {
        "max_attempts": "the first one included",
        "backoff": "exponential: the delay doubles",
        "delay_seconds": "before the second attempt",
        "max_delay_seconds": "the longest delay",
        "jitter": "share by which delays vary",
        "codes": "error codes that are retried, * for all; none: timeouts, rate limits, outages",
    },
    Concurrency: {
        "key": "shared by steps of the space",
        "max": "steps at the same time; others wait",
    },
    Budget: {
        "usd": "US dollars",
        "tokens": "of prompts and answers",
        "seconds": "execution time of steps, without waiting",
    },
    ToolApproval: {
        "tools": "names, server.*, or *",
        "assignees": "email addresses, role:NAME",
        "needed": "approvals of a call",
        "not_starter": "as in Approval",
        "editable": "arguments may be changed",
        "timeout_hours": "then refused",
    },
    HttpCall: {
        "url": "address, with {{...}}",
        "headers": "name: text with {{...}}, or a secret reference",
        "body": "JSON text, with {{...}}",
        "timeout_seconds": "at most 300",
    },
    FormField: {
        "id": "a word; the answer is {{flow_input.<id>}}",
        "label": "the question",
        "type": "of the answer; written behind the id",
        "required": "true: no run starts without an answer",
        "private": "true: evidence keeps a commitment instead of the answer",
        "options": "the choices of a select or multiselect, which need them; no other type has any",
        "min": "of a number; fewest characters of a text, choices of a multiselect",
        "max": "like min",
    },
    FlowSettings: {
        "widget": "how the flow looks where it is embedded",
        "icon": "name of an icon",
        "data_retention_days": "days that runs are kept",
        "input_classification": "sensitivity level of what runs are started with",
        "require_tests": "true: publish only what passed the flow's tests",
        "required_trials": "how often each test has to pass",
        "retry": "as in a policy, for steps without external effects that set none",
        "step_timeout_seconds": "limit of one attempt at a step that sets none",
        "run_deadline_seconds": "a run that has not ended this long after its start fails",
        "run_budget": "what a run may use",
        "error_flow": "published flow that is started when a run fails: name or id",
        "max_concurrent_runs": "runs at the same time; others wait",
        "priority": "place among waiting runs, the highest first",
        "daily_budget": "what all runs may use on a day (UTC)",
    },
    TestCase: {
        "name": "unique in the flow",
        "text": "the text input",
        "form": "answers to the form, by field id",
        "file_ids": "ids of uploaded files",
        "expect": "what the answer must satisfy; everything that is set has to hold",
    },
    Expectation: {
        "contains": "texts it has, in any case",
        "excludes": "texts it has not",
        "equals": "the whole answer",
        "matches": "an RE2 expression found in it",
        "json_schema": "JSON Schema that it satisfies as JSON",
        "reference": "a correct answer: it has its numbers and half of its words, or `judge_model` finds them equal",
        "documents": "names of documents of a knowledge base that it is based on",
        "supported": "true: passages support every sentence",
        "criterion": "what `judge_model` judges it by",
        "judge_model": "provider/name of the model that judges it",
    },
}
_INTRODUCTIONS: Mapping[str, str] = {
    "text": "Lines indented by two spaces a level: name, description, nodes, edges, form, settings. A node is"
    " `id: Type` with its values below; long text follows `|`. An edge is `a.output -> b.input`; a node given to an"
    " agent as a tool leaves by `tool`. `label` is the title, `policy` the rules of the step. Note and Group are nodes"
    " without edges.",
    "references": "{{...}} in a text puts in a value of an earlier step: {{page.text}}, {{brief.output}} (main output),"
    " {{rows.output.0.name}}, {{page.file_ids}}; the run's input is {{flow_input.text}}, {{flow_input.<form field>}}."
    " A reference implies order: the step it names runs first, and no edge is needed. A field that is one reference and"
    " nothing else gets the value itself, not its text. In SQL, JMESPath and RE2 a value is quoted for you: write"
    " `WHERE name = '{{flow_input.name}}'`; a column is \"{{...}}\".",
    "form": "Questions asked when a run starts, each `id: type`. FormInput outputs all answers, FileInput a file.",
    "policy": "Rules of a step, below `policy:` of a node; configure_component sets them too.",
    "contracts": 'A contract is {"type": "json", "schema": {...}} with JSON Schema (type, required, properties, items,'
    ' enum, additionalProperties), {"type": "text", "min_length", "max_length", "max_bytes", "format"}, or {"type":'
    ' "image" | "audio" | "document" | "file", "format", "max_bytes", "max_count"}. A value that breaks it fails the'
    " step and says where.",
    "settings": "Settings of the flow, below `settings:`; edit_flow sets them too.",
    "models": "A model field is `provider/name`, or an object with `provider`, `name`, `params` and `api_key`, a secret"
    " reference, and `fallback`, the models that are called in order when it cannot answer. Empty, it is the default"
    " for steps, which list_models names with the models that are ready. A provider takes only some of the params; the"
    " refusal names them.",
    "tests": "A flow's tests, saved with save_tests: each an input and what the answer must satisfy.",
}
EXAMPLES: Mapping[str, str] = {
    "text": """name: Page summary
description: Fetch a page and shorten it
nodes:
  page: URL
    label: The page
    url: https://example.org
  shorter: SplitText
    by: length
    size: 400
  about: Note
    text: |
      Only the readable text is used.
  out: ChatOutput
edges:
  page.text -> shorter.text
  shorter.chunks -> out.input
""",
    "references": """name: Letter
nodes:
  day: CurrentDate
  letter: TextInput
    text: "Written on {{day.text}} to {{flow_input.text}}"
  out: ChatOutput
edges:
  letter.text -> out.input
""",
    "form": """name: Application
nodes:
  form: FormInput
  out: ChatOutput
edges:
  form.text -> out.input
form:
  applicant: text
    label: Who applies?
    required: true
  kind: select
    options: ["new", "again"]
  report: document
""",
    "policy": """name: Rates
nodes:
  rates: ParseJSON
    policy:
      input_source: http_get
      input_config:
        url: https://rates.example.org/latest?of={{flow_input.text}}
        headers:
          authorization: {"secret": "RATES_KEY"}
        timeout_seconds: 5
      retry: {"max_attempts": 4, "delay_seconds": 10}
      on_error: error_edge
  result: Merge
    mode: first
  out: ChatOutput
    policy:
      input_contract: {"type": "text", "max_length": 1000}
edges:
  rates.data -> result.values
  rates.error -> result.values
  result.text -> out.input
""",
    "contracts": """name: Checked
nodes:
  heard: ChatInput
    policy:
      output_contract: {"type": "text", "min_length": 1, "max_length": 2000}
  out: ChatOutput
edges:
  heard.text -> out.input
""",
    "settings": """name: Kept for a month
nodes:
  out: TextInput
    text: Hello
settings:
  icon: coins
  data_retention_days: 30
  require_tests: true
  run_budget: {"usd": 0.5}
  max_concurrent_runs: 4
""",
    "models": """name: Three lines
nodes:
  heard: ChatInput
  brief: AIStep
    prompt: Summarise in three lines.
    model:
      provider: openai
      name: gpt-5-mini
      params:
        max_tokens: 400
      fallback: ["openai/gpt-5-nano"]
  out: ChatOutput
edges:
  heard.text -> brief.input
  brief.output -> out.input
""",
}
_MODELS: Mapping[str, tuple[type[BaseModel], ...]] = {
    "form": (FormField,),
    "policy": (StepPolicy, HttpCall, RetryPolicy, Concurrency, ToolApproval),
    "settings": (FlowSettings, Budget),
    "models": (ModelParams,),
    "tests": (TestCase, Expectation),
}
"""Topic to the classes that parse it."""
_TITLES: Mapping[type[BaseModel], str] = {
    HttpCall: "input_config and output_config",
    ModelParams: "params",
    Expectation: "expect",
    RetryPolicy: "retry",
    Concurrency: "concurrency",
    ToolApproval: "tool_approval",
    Budget: "run_budget and daily_budget",
}


async def read_grammar(bench: Workbench, topic: Topic = "text") -> Result:  # noqa: ARG001 - every tool has a bench
    """Read how the text of a flow is written, with an example that builds.

    Args:
        topic: The part.
    """
    return {"ok": True, "topic": topic, "text": grammar_of(topic)}


def grammar_of(topic: Topic) -> str:
    """Return one topic of the grammar."""
    parts = [_INTRODUCTIONS[topic]]
    for model in _MODELS.get(topic, ()):
        title = f"{_TITLES[model]}:\n" if model in _TITLES else ""
        parts.append(title + "\n".join(_members(model)))
    if topic in {"policy", "models"}:
        parts.append(f"A secret is never written down: {EXAMPLE} refers to a variable; list_variables names them.")
    if topic in EXAMPLES:
        parts.append(f"Example:\n{EXAMPLES[topic]}")
    return "\n\n".join(part.rstrip() for part in parts)


def _members(model: type[BaseModel]) -> Iterator[str]:
    words = _WORDS.get(model, {})
    for name, member in model.model_fields.items():
        about = ", ".join(part for part in (_values(member), _default(member), words.get(name, "")) if part)
        yield f"- {name}: {about}"


def _values(member: FieldInfo) -> str:
    """Return the allowed values of a member: its choices, or its type and bounds."""
    kind = _kind(member.annotation)
    bounds = [
        f"{sign} {getattr(rule, attribute)}"
        for rule in member.metadata
        for attribute, sign in (("ge", "from"), ("gt", "above"), ("le", "to"))
        if getattr(rule, attribute, None) is not None
    ]
    return " ".join([kind, *bounds])


def _kind(annotation: Any) -> str:  # noqa: ANN401 - a type
    if get_origin(annotation) is Annotated:
        return _kind(get_args(annotation)[0])
    if get_origin(annotation) is Literal:
        return " | ".join(str(choice) for choice in get_args(annotation))
    if get_origin(annotation) in {Union, UnionType}:
        return " or ".join(dict.fromkeys(_kind(option) for option in get_args(annotation) if option is not NoneType))
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return " | ".join(str(choice.value) for choice in annotation)
    return _KINDS.get(get_origin(annotation) or annotation, "object")


_KINDS: Mapping[Any, str] = {
    str: "text",
    bool: "true | false",
    int: "whole number",
    float: "number",
    list: "list",
    tuple: "list",
    JsonValue: "any value",
}


def _default(member: FieldInfo) -> str:
    default = member.default.value if isinstance(member.default, Enum) else member.default
    if isinstance(default, bool):
        return f"default {str(default).lower()}"
    return f"default {default}" if isinstance(default, str | int | float) and default not in {"", "{}"} else ""
