"""Runs inside a sandbox worker: finds the component in custom code, describes it, and runs it.

The sandbox loads the code as a module and calls one of these two functions on it. Both return JSON; their errors are
transferred as the exception's name, its message and remedy, and the line of the code.
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
    """Return `{"class_name", "template"}` of the module's component class.

    Raises `ComponentError` when there is none, when there are several, or when its kind is not available to custom
    code.
    """
    component = component_of(module)
    try:
        template = component.template()
    except TypeError as error:
        raise ComponentError(f"{error}.", remedy="Annotate each output: -> Text, -> Data, -> Table.") from error
    _require_supported(component, template)
    return {"class_name": component.__name__, "template": cast("JsonValue", template.model_dump(mode="json"))}


async def produce(module: ModuleType, arguments: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Produce outputs of the module's component.

    Args:
        module: The loaded code.
        arguments: `{"values", "outputs", "run_id", "node_id", "input", "files"}`: values in the form of
            `crossing.pack`, the names of the requested outputs, and the payload of `HostedContext`.

    Returns:
        `{"outputs": {name: {"value": ...} or {"not_taken": true}}, "log": [...], "tokens": [...], "files": [...]}`.

    Raises:
        ComponentError: A field is missing or wrong.
        ValueMismatch: An output does not have its annotated type.
    """
    request = cast("dict[str, Any]", arguments)
    component = component_of(module)
    types = {output.name: output.type for output in component.declared_outputs()}
    ctx = HostedContext(request)
    instance = component.create(unpack_all(request["values"]), node_id=ctx.node_id)
    instance.attach(cast("RunContext", ctx))
    outputs: dict[str, JsonValue] = {}
    for name in request["outputs"]:
        value = await instance.produce(name)
        outputs[name] = {"not_taken": True} if value is NOT_TAKEN else {"value": _encoded(name, value, types[name])}
    return {
        "outputs": outputs,
        "log": cast("JsonValue", ctx.lines),
        "tokens": cast("JsonValue", ctx.tokens),
        "files": cast("JsonValue", ctx.files.made()),
    }


def component_of(module: ModuleType) -> type[Component]:
    """Return the only component class that the module defines; base classes of its other components do not count.

    Raises `ComponentError`.
    """
    defined = [
        value
        for value in vars(module).values()
        if inspect.isclass(value) and issubclass(value, Component) and value.__module__ == module.__name__
    ]
    components = [cls for cls in defined if not any(other is not cls and issubclass(other, cls) for other in defined)]
    components = list(dict.fromkeys(components))
    if not components:
        raise ComponentError(
            "The code defines no component.",
            remedy="Write `class Name(Component):` with `from headgate.sdk import Component, field, output`.",
        )
    if len(components) > 1:
        raise ComponentError(
            f"The code defines {len(components)} components: {listed(cls.__name__ for cls in components)}.",
            remedy="Keep one; a node contains the code of one component.",
        )
    return components[0]


def _require_supported(component: type[Component], template: Template) -> None:
    name = component.__name__
    for member in _CHANGING:
        if getattr(component, member).__func__ is not getattr(Component, member).__func__:
            raise ComponentError(
                f"{name}.{member}: the fields and outputs of custom code must not depend on settings.",
                remedy=f"Remove {member}, and declare every field and output.",
            )
    for field in template.fields:
        if field.takes_configuration:
            raise ComponentError(
                f"{name}.{field.name}: custom code cannot take a model or tools.",
                remedy="Connect an AIStep or an Agent, and process its answer.",
            )
    for output in template.outputs:
        if output.type in CONFIGURATION_TYPES:
            raise ComponentError(
                f"{name}.{output.name}: custom code cannot return a {output.type}.",
                remedy=(
                    "Return Text, Message, Data, Table or File. With tool_mode fields the component itself is a tool."
                ),
            )
    if not template.outputs:
        raise ComponentError(
            f"{name} has no output.", remedy=("Mark a method with @output() and annotate its return type.")
        )
    if template.annotation:
        raise ComponentError(f"{name} is marked as a note, which is never executed.", remedy="Remove `annotation`.")


def _encoded(name: str, value: object, port: PortType) -> JsonValue:
    try:
        return encode(value, port)
    except ValueMismatch as error:
        raise ValueMismatch(
            f"output '{name}': {error.detail}", remedy=error.remedy or "Return a value of the annotated type."
        ) from error
