"""Components that nodes of an AgentflowV2 work with, a model or a tool: named by one input, set by another. Pure.

An input with `loadConfig` names a component; the input with the same name and `Config` has its values. Flowise takes
the credential from `FLOWISE_CREDENTIAL_ID` among them, and fails where there are no values at all.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headgate.agents.codev.domains.flowise.answers import StoredCredential, objects
from headgate.agents.codev.domains.flowise.drawn import CREDENTIAL_ID, inputs_of, params_of, text_of
from headgate.agents.codev.domains.flowise.errors import BadSpec
from headgate.agents.codev.domains.flowise.gathering import Faults
from headgate.agents.codev.domains.flowise.node_schema import NodeSchema, is_anchor, names_of
from headgate.agents.codev.domains.flowise.quoting import one_line
from headgate.graph.names import did_you_mean, listed

CONFIG = "Config"
_DEEPEST = 4


@dataclass(frozen=True, slots=True)
class Loaded:
    """A component that a node references by name."""

    where: str
    """The input, as `llmModel` or `agentTools.0.agentSelectedTool`."""
    name: str
    component: str
    scope: dict[str, Any]
    """What has both inputs: those of the node, or an item of a list among them."""

    @property
    def config(self) -> dict[str, Any] | None:
        """The component's values; None when there are none."""
        config = self.scope.get(f"{self.name}{CONFIG}")
        return config if isinstance(config, dict) else None


def loaded(data: Mapping[str, Any]) -> Iterator[Loaded]:
    """Return every component that a node references by name."""
    yield from _within(params_of(data), inputs_of(data), "", 0)


def fill_configs(
    data: Mapping[str, Any],
    schemas: Mapping[str, NodeSchema],
    credentials: Sequence[StoredCredential] | None,
    faults: Faults,
) -> None:
    """Give each component its default values if it has none, and its credential."""
    node_id = text_of(data.get("id"))
    for ref in loaded(data):
        schema = schemas.get(ref.component)
        if schema is not None:
            with faults.part(node_id):
                ref.scope[f"{ref.name}{CONFIG}"] = _filled(node_id, ref, schema, credentials)


def chosen_credential(
    choice: str, held: str, place: Mapping[str, Any], credentials: Sequence[StoredCredential] | None
) -> str:
    """The id of the credential that is meant: by id, name or type; the only one that fits where one is needed."""
    fitting = [credential for credential in credentials or () if credential.type in names_of(place)]
    if choice and choice not in {credential.id for credential in fitting}:
        named = [credential.id for credential in fitting if choice in {credential.name, credential.type}]
        return named[0] if len(named) == 1 else choice
    if not choice and not held and place.get("optional") is not True and len(fitting) == 1:
        return fitting[0].id
    return choice or held


def _within(places: Sequence[dict[str, Any]], scope: dict[str, Any], lead: str, depth: int) -> Iterator[Loaded]:
    for place in places:
        name = text_of(place.get("name"))
        value = scope.get(name)
        if place.get("loadConfig") is True and isinstance(value, str) and value:
            yield Loaded(f"{lead}{name}", name, value, scope)
        inner = objects(place.get("array"), 50) if depth < _DEEPEST else []
        for number, item in enumerate(objects(value, 200) if inner else ()):
            yield from _within(inner, item, f"{lead}{name}.{number}.", depth + 1)


def _filled(
    node_id: str, ref: Loaded, schema: NodeSchema, credentials: Sequence[StoredCredential] | None
) -> dict[str, Any]:
    """Return the values in the canvas format, which includes the component's name to detect a change."""
    config = ref.config or {}
    if config.get(ref.name) != ref.component:
        given = {} if config.get(ref.name) else config
        _require_known(node_id, ref, schema, given)
        usual = schema.defaults()
        config = usual | ({"streaming": False} if "streaming" in usual else {}) | given | {ref.name: ref.component}
    if schema.credential is None:
        return config
    choice, held = text_of(config.get("credential")), text_of(config.get(CREDENTIAL_ID))
    credential_id = chosen_credential("" if held else choice, held, schema.credential, credentials)
    return config if credential_id == held else config | {"credential": "", CREDENTIAL_ID: credential_id}


def _require_known(node_id: str, ref: Loaded, schema: NodeSchema, given: Mapping[str, Any]) -> None:
    names = [place["name"] for place in schema.inputs if not is_anchor(place)]
    unknown = sorted(given.keys() - {*(place["name"] for place in schema.inputs), "credential", CREDENTIAL_ID})
    if unknown:
        quoted = listed([repr(one_line(name, 80)) for name in unknown])
        guess = did_you_mean(unknown[0], names) if len(unknown) == 1 else ""
        raise BadSpec(
            f"'{ref.component}' in '{node_id}.{ref.where}{CONFIG}' has no input {quoted}{guess or '.'}",
            remedy=f"It has: {listed(names, most=40)}.",
        )
