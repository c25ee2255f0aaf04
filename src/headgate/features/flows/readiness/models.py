"""The models of a flow: which are named, usable, and capable of what their steps require."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

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
from headgate.graph.classification import model_refs
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
    first: bool = True
    """Whether it is asked first; else it is a fallback model."""
    spare: bool = False
    """Whether another model of its chain can be used where this one cannot."""


@dataclass(frozen=True, slots=True)
class Findings:
    """Findings about the models of a flow."""

    issues: tuple[Issue, ...]
    needs: tuple[Need, ...]


def model_findings(wiring: Wiring, environment: Environment | None) -> Findings:
    """Check whether every model of a flow can be used, without calling it."""
    issues: list[Issue] = []
    needs: list[Need] = []
    outlooks: dict[str, ModelOutlook | None] = {}
    for field in _with_spares(list(named_models(wiring)), environment):
        if field.model is None:
            issues.append(_decided_by_run(field))
            continue
        key = field.model.model_dump_json()
        if key not in outlooks:
            outlooks[key] = outlook_of(field.model, environment)
        outlook = outlooks[key]
        state: NeedState = "unknown" if outlook is None else "ready" if outlook.usable else "missing"
        needs.append(Need(kind="model", name=str(field.model), state=state, nodes=(field.node.id,)))
        if outlook is not None and not outlook.usable:
            issues.append(_not_usable(field, field.model, outlook))
        elif outlook is not None and outlook.variable:
            needs.append(Need(kind="variable", name=outlook.variable, state="ready", nodes=(field.node.id,)))
    return Findings((*issues, *_capability_issues(wiring, environment)), tuple(needs))


def named_models(wiring: Wiring) -> Iterator[NamedModel]:
    """Return every model field with a value, by node and field."""
    for key, node in wiring.nodes.items():
        template = wiring.templates[key]
        if template is None:
            continue
        connected = {wire.edge.input for wire in wiring.arriving[key]}
        params = typed_params(node.params, template)
        for field in template.fields:
            value = params.get(field.name, field.default)
            if PortType.MODEL in field.types and value not in (None, "") and field.name not in connected:
                refs = model_refs(node.params.get(field.name, field.default))
                try:
                    chain = Model.model_validate(value).chain if None not in refs else (None,)
                except ValidationError:
                    continue  # reported as a wrong value
                yield from (NamedModel(node, field, model, first=place == 0) for place, model in enumerate(chain))


def _with_spares(models: list[NamedModel], environment: Environment | None) -> Iterator[NamedModel]:
    """The models; of a chain in which one can be used, the others are only worth a warning."""
    for named_model in models:
        mates = [
            mate for mate in models if mate.node.id == named_model.node.id and mate.field.name == named_model.field.name
        ]
        outlooks = [outlook_of(mate.model, environment) for mate in mates if mate.model is not None]
        usable = len(mates) > 1 and any(outlook is None or outlook.usable for outlook in outlooks)
        yield replace(named_model, spare=usable)


def outlook_of(model: Model, environment: Environment | None) -> ModelOutlook | None:
    """Return what is known about a model before a call; None when nothing is."""
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


def _not_usable(named_model: NamedModel, model: Model, outlook: ModelOutlook) -> Issue:
    uses = "uses the model" if named_model.first else "has the fallback model"
    return Issue(
        IssueCode.MODEL_NOT_USABLE,
        sentence(f"{named(named_model.node)} {uses} {model}, which cannot be used: {outlook.problem}"),
        outlook.remedy,
        named_model.node.id,
        named_model.field.name,
        severity="warning" if named_model.spare else "error",
        about=str(model),
    )


def _decided_by_run(field: NamedModel) -> Issue:
    return Issue(
        IssueCode.MODEL_UNKNOWN,
        f"the model of {named(field.node)} depends on a value of the run.",
        "Name a model to have it checked before a run.",
        field.node.id,
        field.field.name,
        severity="warning",
    )


def _capability_issues(wiring: Wiring, environment: Environment | None) -> Iterator[Issue]:
    """Return capabilities that steps require and their models lack, or are not known to have."""
    models = {key: [] for key in wiring.nodes}  # type: dict[str, list[Model]]
    for field in named_models(wiring):
        if field.model is not None:
            models[field.node.id].append(field.model)
    for key in wiring.steps:
        attached = wiring.attachments(key)
        candidates = [*models[key], *(model for wire in attached for model in models[wire.edge.source])]
        for model in dict.fromkeys(str(model) for model in candidates):
            info = _info(next(candidate for candidate in candidates if str(candidate) == model), environment)
            if info is not None:
                tools = any(wire.type is PortType.TOOL for wire in attached)
                yield from _lacking(wiring.nodes[key], model, info, tools=tools)


def _info(model: Model, environment: Environment | None) -> ModelInfo | None:
    try:
        return catalogue.resolve(model) if environment is None else known_of(model, environment.variables.of)
    except HeadgateError:
        return None


def _lacking(node: Node, model: str, info: ModelInfo, *, tools: bool) -> Iterator[Issue]:
    required_input = _BY_INPUT.get(node.policy.input_type)
    lacking = (
        [f"takes {node.policy.input_type.value} input"] if required_input and not getattr(info, required_input) else []
    )
    lacking += ["calls tools"] if tools and info.tools == "none" else []
    for capability in lacking:
        yield Issue(
            IssueCode.MODEL_CANNOT,
            f"{named(node)} {capability}, and {model} {'does not' if info.known else 'is not known to'}.",
            "Choose a model that does.",
            node.id,
            severity="error" if info.known else "warning",
            about=model,
        )
