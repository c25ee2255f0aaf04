"""The models of a flow: which are named, whether they can be used, and whether they can do what their steps ask."""

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import ValidationError

from headgate.features.flows.readiness.answer import Need, NeedState
from headgate.features.flows.readiness.environment import Environment
from headgate.features.flows.readiness.immediate import at_once
from headgate.features.models import catalogue
from headgate.features.models.catalogue import ModelInfo
from headgate.features.models.local.store import find_local
from headgate.features.models.outlook import ModelOutlook, look_at
from headgate.features.models.params import ModelParams
from headgate.features.models.providers import LOCAL, known_provider
from headgate.features.models.setup.facts import known_of
from headgate.foundation.errors import HeadgateError
from headgate.graph.check_graph import named
from headgate.graph.classification import model_ref
from headgate.graph.issues import Issue, IssueCode
from headgate.graph.model import InputType, Node
from headgate.graph.names import sentence
from headgate.graph.ports import PortType
from headgate.graph.secret_reference import typed_params
from headgate.graph.template import FieldTemplate
from headgate.graph.wiring import Wiring
from headgate.sdk import Model

_BY_INPUT = {InputType.IMAGE: "vision", InputType.AUDIO: "audio"}


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A model field of a node that has a value."""

    node: Node
    field: FieldTemplate
    model: Model | None
    """None where only the run decides it."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found of the models of a flow."""

    issues: tuple[Issue, ...]
    needs: tuple[Need, ...]


def model_findings(wiring: Wiring, environment: Environment | None) -> Findings:
    """Whether every model of a flow can be used, as far as it shows without asking it."""
    issues: list[Issue] = []
    needs: list[Need] = []
    outlooks: dict[str, ModelOutlook | None] = {}
    for one in named_models(wiring):
        if one.model is None:
            issues.append(_decided_by_run(one))
            continue
        key = one.model.model_dump_json()
        if key not in outlooks:
            outlooks[key] = outlook_of(one.model, environment)
        outlook = outlooks[key]
        state: NeedState = "unknown" if outlook is None else "ready" if outlook.usable else "missing"
        needs.append(Need(kind="model", name=str(one.model), state=state, nodes=(one.node.id,)))
        if outlook is not None and not outlook.usable:
            issues.append(_not_usable(one, one.model, outlook))
        elif outlook is not None and outlook.variable:
            needs.append(Need(kind="variable", name=outlook.variable, state="ready", nodes=(one.node.id,)))
    return Findings((*issues, *_capability_issues(wiring, environment)), tuple(needs))


def named_models(wiring: Wiring) -> Iterator[NamedModel]:
    """Every model field that has a value, by node and field."""
    for key, node in wiring.nodes.items():
        template = wiring.templates[key]
        if template is None:
            continue
        connected = {one.edge.input for one in wiring.arriving[key]}
        params = typed_params(node.params, template)
        for field in template.fields:
            value = params.get(field.name, field.default)
            if PortType.MODEL in field.types and value not in (None, "") and field.name not in connected:
                known = model_ref(node.params.get(field.name, field.default)) is not None
                try:
                    model = Model.model_validate(value) if known else None
                except ValidationError:
                    continue  # reported as a wrong value
                yield NamedModel(node, field, model)


def outlook_of(model: Model, environment: Environment | None) -> ModelOutlook | None:
    """What is known of a model before it is asked; None where nothing is."""
    try:
        provider = known_provider(model.provider)
        if provider is not None:
            ModelParams.parse(model.params, provider=provider, api_key=model.api_key)
        if environment is None:
            return None
        if provider is not None and provider.id == LOCAL:
            find_local(environment.local.models_dir, model.name)
            return ModelOutlook(model=str(model), usable=True, info=known_of(model, environment.variables.of))
    except HeadgateError as error:
        return ModelOutlook(model=str(model), usable=False, problem=error.detail, remedy=error.remedy)
    return at_once(look_at(model, environment.variables))


def _not_usable(one: NamedModel, model: Model, outlook: ModelOutlook) -> Issue:
    return Issue(
        IssueCode.MODEL_NOT_USABLE,
        sentence(f"{named(one.node)} uses the model {model}, which cannot be used: {outlook.problem}"),
        outlook.remedy,
        one.node.id,
        one.field.name,
        about=str(model),
    )


def _decided_by_run(one: NamedModel) -> Issue:
    return Issue(
        IssueCode.MODEL_UNKNOWN,
        f"the model of {named(one.node)} is decided by a value of the run.",
        "Name a model, to have it checked before a run.",
        one.node.id,
        one.field.name,
        severity="warning",
    )


def _capability_issues(wiring: Wiring, environment: Environment | None) -> Iterator[Issue]:
    """What steps ask of their models that these cannot do, or are not known to."""
    models = {key: [] for key in wiring.nodes}  # type: dict[str, list[Model]]
    for one in named_models(wiring):
        if one.model is not None:
            models[one.node.id].append(one.model)
    for key in wiring.steps:
        attached = wiring.attachments(key)
        asked = [*models[key], *(model for wire in attached for model in models[wire.edge.source])]
        for model in dict.fromkeys(str(model) for model in asked):
            info = _info(next(one for one in asked if str(one) == model), environment)
            if info is not None:
                tools = any(wire.type is PortType.TOOL for wire in attached)
                yield from _lacking(wiring.nodes[key], model, info, tools=tools)


def _info(model: Model, environment: Environment | None) -> ModelInfo | None:
    try:
        return catalogue.resolve(model) if environment is None else known_of(model, environment.variables.of)
    except HeadgateError:
        return None


def _lacking(node: Node, model: str, info: ModelInfo, *, tools: bool) -> Iterator[Issue]:
    wanted = _BY_INPUT.get(node.policy.input_type)
    lacking = [f"takes {node.policy.input_type.value} input"] if wanted and not getattr(info, wanted) else []
    lacking += ["calls tools"] if tools and info.tools == "none" else []
    for what in lacking:
        yield Issue(
            IssueCode.MODEL_CANNOT,
            f"{named(node)} {what}, and {model} {'does not' if info.known else 'is not known to'}.",
            "Choose a model that does.",
            node.id,
            severity="error" if info.known else "warning",
            about=model,
        )
