"""Checks of a node's values: required ones, references to other nodes, credentials. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from headgate.agents.codev.domain import Fault
from headgate.agents.codev.domains.flowise.answers import StoredCredential
from headgate.agents.codev.domains.flowise.configs import CONFIG, Loaded, loaded
from headgate.agents.codev.domains.flowise.drawn import (
    CREDENTIAL_ID,
    anchors_of,
    credential_of,
    data_of,
    id_of,
    inputs_of,
    params_of,
    text_of,
)
from headgate.agents.codev.domains.flowise.node_schema import NodeSchema, is_anchor, names_of
from headgate.agents.codev.domains.flowise.quoting import one_line
from headgate.agents.codev.domains.flowise.spec import references
from headgate.graph.names import did_you_mean, listed

EMPTY: tuple[object, ...] = (None, "", [])
_NAMED = "Set 'credential' to an id of list_credentials"


def input_faults(node: Mapping[str, Any], there: Mapping[str, Any]) -> Iterator[Fault]:
    """References to nodes that are not there, and required inputs that are not set."""
    data = data_of(node)
    inputs = inputs_of(data)
    for place in [*anchors_of(data), *params_of(data)]:
        name = text_of(place.get("name"))
        value = inputs.get(name)
        if place.get("type") == "credential":
            continue
        for lost in dict.fromkeys(references(value)):
            if lost not in there:
                yield Fault(id_of(node), f"'{name}' refers to '{lost}', which is not a node.", "Connect it to one.")
        if is_required(place, inputs) and value in EMPTY:
            remedy = "Set a value." if place in params_of(data) else f"Connect a node to '{id_of(node)}.{name}'."
            yield Fault(id_of(node), f"'{name}' ({one_line(place.get('label'), 60)}) is required and not set.", remedy)


def is_required(place: Mapping[str, Any], inputs: Mapping[str, Any]) -> bool:
    """Whether an input must have a value, given the values of others."""
    if place.get("optional") not in (None, False) or place.get("type") == "boolean" or place.get("hidden"):
        return False
    if place.get("default") not in EMPTY:
        return False  # what holds nothing is then what the component takes it for, as in nodes of earlier releases
    if place.get("tabs"):
        return False  # its values are those of its tabs
    return _holds(place.get("show"), inputs, default=True) and not _holds(place.get("hide"), inputs, default=False)


def credential_faults(node: Mapping[str, Any], credentials: Sequence[StoredCredential] | None) -> Iterator[Fault]:
    """A credential that is lacking, is gone, or is another's."""
    data = data_of(node)
    place = next((param for param in params_of(data) if param.get("type") == "credential"), None)
    if place is not None:
        yield from _credential(id_of(node), place, credential_of(data), credentials)


def config_faults(
    node: Mapping[str, Any],
    schemas: Mapping[str, NodeSchema] | None,
    credentials: Sequence[StoredCredential] | None,
) -> Iterator[Fault]:
    """Check components that a node references by name, where Flowise fails only at run time."""
    for ref in loaded(data_of(node)) if schemas is not None else ():
        schema = schemas.get(ref.component) if schemas is not None else None
        if schema is None:
            yield Fault(
                id_of(node), f"'{ref.where}' is '{one_line(ref.component, 80)}', which the server does not have"
                f"{did_you_mean(ref.component, schemas or ()) or '.'}", "Take a name from list_nodes."
            )  # fmt: skip
        elif ref.config is None:
            yield Fault(
                id_of(node),
                f"'{ref.where}{CONFIG}' is not set.",
                f"Give it the values of '{ref.component}': {{}}.",
            )
        else:
            yield from _loaded(node, ref, schema, ref.config, credentials)


def _loaded(
    node: Mapping[str, Any],
    ref: Loaded,
    schema: NodeSchema,
    config: Mapping[str, Any],
    credentials: Sequence[StoredCredential] | None,
) -> Iterator[Fault]:
    for place in schema.inputs:
        if not is_anchor(place) and is_required(place, config) and config.get(place["name"]) in EMPTY:
            yield Fault(
                id_of(node), f"'{place['name']}' of '{ref.component}' is required and not set.",
                f"Set it in '{ref.where}{CONFIG}'."
            )  # fmt: skip
    if schema.credential is not None:
        held = text_of(config.get(CREDENTIAL_ID))
        yield from _credential(id_of(node), schema.credential, held, credentials, ref)


def _credential(
    where: str,
    place: Mapping[str, Any],
    held: str,
    credentials: Sequence[StoredCredential] | None,
    ref: Loaded | None = None,
) -> Iterator[Fault]:
    who, at = (f"'{ref.component}' in '{ref.where}'", f" in '{ref.where}{CONFIG}'") if ref else ("It", "")
    whose = f"The credential of {who}" if ref else "Its credential"
    types = names_of(place)
    if not held:
        if place.get("optional") is not True:
            lacking = f"{_NAMED}{at}; without one, the user has to create it."
            yield Fault(where, f"{who} requires a credential of type {listed(types)}.", lacking)
        return
    if credentials is None:
        return
    credential = next((credential for credential in credentials if credential.id == held), None)
    if credential is None:
        yield Fault(where, f"{whose} does not exist.", f"{_NAMED}{at}.")
    elif types and credential.type not in types:
        yield Fault(where, f"{whose} is of type {credential.type}, but {listed(types)} is required.",
                    f"Set 'credential'{at} to another id of list_credentials.")  # fmt: skip


def _holds(condition: object, inputs: Mapping[str, Any], *, default: bool) -> bool:
    """Whether an input's show or hide condition is met; conditions on list items count as not met."""
    if not isinstance(condition, Mapping) or not condition:
        return default
    for name, expected in condition.items():
        if "$" in str(name) or "." in str(name):
            return False
        value = inputs.get(name)
        if not (value in expected if isinstance(expected, list) else value == expected or str(value) == str(expected)):
            return False
    return True
