"""Runs inside a sandbox worker: finds the component in own code, describes it, and has it work.

The sandbox loads the code as a module and calls one of these two functions on it. Both give JSON; what they raise
crosses as the exception's name, its message and remedy, and the line of the code it came from.
"""

import inspect
from collections.abc import Mapping
from types import ModuleType
from typing import Any, cast

from pydantic import JsonValue

from headgate.graph.names import listed
from headgate.graph.ports import CONFIGURATION_TYPES, PortType
from headgate.graph.template import Template
from headgate.sdk.coerce import ValueMismatch, encode
from headgate.sdk.component import NOT_TAKEN, Component, ComponentError
from headgate.sdk.context import RunContext
from headgate.sdk.crossing import unpack_all
from headgate.sdk.hosted import HostedContext

_CHANGING = ("extra_fields", "extra_outputs")


def describe(module: ModuleType, arguments: Mapping[str, JsonValue]) -> dict[str, JsonValue]:  # noqa: ARG001 - a host function's signature
    """`{"class_name", "template"}` of the module's component, found by asking the class itself.

    Raises `ComponentError` when there is none, when there are several, or when it is of a kind that own code cannot be.
    """
    component = component_of(module)
    try:
        template = component.template()
    except TypeError as error:
        raise ComponentError(f"{error}.", remedy="Annotate each output: -> Text, -> Data, -> Table.") from error
    _require_supported(component, template)
    return {"class_name": component.__name__, "template": cast("JsonValue", template.model_dump(mode="json"))}


async def produce(module: ModuleType, arguments: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Have the module's component give outputs.

    Args:
        module: The loaded code.
        arguments: `{"values", "outputs", "run_id", "node_id", "input", "files"}`: values as `crossing.pack` made them,
            the names of the outputs that are wanted, and what `HostedContext` is told.

    Returns:
        `{"outputs": {name: {"value": ...} or {"not_taken": true}}, "log": [...], "tokens": [...], "files": [...]}`.

    Raises:
        ComponentError: A field is missing or wrong.
        ValueMismatch: An output is not of the type that its annotation says.
    """
    told = cast("dict[str, Any]", arguments)
    component = component_of(module)
    types = {output.name: output.type for output in component.declared_outputs()}
    ctx = HostedContext(told)
    made = component.create(unpack_all(told["values"]), node_id=ctx.node_id)
    made.attach(cast("RunContext", ctx))
    outputs: dict[str, JsonValue] = {}
    for name in told["outputs"]:
        value = await made.produce(name)
        outputs[name] = {"not_taken": True} if value is NOT_TAKEN else {"value": _encoded(name, value, types[name])}
    return {
        "outputs": outputs,
        "log": cast("JsonValue", ctx.lines),
        "tokens": cast("JsonValue", ctx.tokens),
        "files": cast("JsonValue", ctx.files.made()),
    }


def component_of(module: ModuleType) -> type[Component]:
    """The one component class that the module itself defines; those that others of it build on do not count.

    Raises `ComponentError`.
    """
    defined = [
        value
        for value in vars(module).values()
        if inspect.isclass(value) and issubclass(value, Component) and value.__module__ == module.__name__
    ]
    found = [one for one in defined if not any(other is not one and issubclass(other, one) for other in defined)]
    found = list(dict.fromkeys(found))
    if not found:
        raise ComponentError(
            "The code defines no component.",
            remedy="Write `class Name(Component):` with `from headgate.sdk import Component, field, output`.",
        )
    if len(found) > 1:
        raise ComponentError(
            f"The code defines {len(found)} components: {listed(one.__name__ for one in found)}.",
            remedy="Keep one; a node has the code of one component.",
        )
    return found[0]


def _require_supported(component: type[Component], template: Template) -> None:
    name = component.__name__
    for member in _CHANGING:
        if getattr(component, member).__func__ is not getattr(Component, member).__func__:
            raise ComponentError(
                f"{name}.{member}: the fields and outputs of own code are the same whatever is set.",
                remedy=f"Take {member} out, and declare every field and output.",
            )
    for field in template.fields:
        if field.takes_configuration:
            raise ComponentError(
                f"{name}.{field.name}: own code cannot be given a model or tools.",
                remedy="Connect an AIStep or an Agent, and work on what it answers.",
            )
    for output in template.outputs:
        if output.type in CONFIGURATION_TYPES:
            raise ComponentError(
                f"{name}.{output.name}: own code cannot give a {output.type}.",
                remedy="Give Text, Message, Data, Table or File. With tool_mode fields the component itself is a tool.",
            )
    if not template.outputs:
        raise ComponentError(f"{name} has no output.", remedy="Mark a method with @output() and annotate its return.")
    if template.annotation:
        raise ComponentError(f"{name} is marked as a note, which never runs.", remedy="Take `annotation` out.")


def _encoded(name: str, value: object, port: PortType) -> JsonValue:
    try:
        return encode(value, port)
    except ValueMismatch as error:
        raise ValueMismatch(
            f"output '{name}': {error.detail}", remedy=error.remedy or "Return what the annotation says."
        ) from error
