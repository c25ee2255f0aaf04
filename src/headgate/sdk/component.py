"""The component class: fields are inputs, `@output` methods are outputs."""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Final, Self, TypeVar, cast, get_type_hints

import orjson
from pydantic import BaseModel, ConfigDict, JsonValue, PrivateAttr, ValidationError, create_model

from headgate.foundation.errors import Invalid
from headgate.foundation.extras import require_extra
from headgate.graph.ports import PortType
from headgate.graph.template import FieldTemplate, OutputTemplate, Template
from headgate.sdk.coerce import text_of
from headgate.sdk.context import RunContext
from headgate.sdk.derive import field_template, json_fields, port_type_of, text_fields
from headgate.sdk.fields import META
from headgate.sdk.values import Message

Method = TypeVar("Method", bound=Callable[..., Any])


class NotTaken:
    """Returned by a branch output that this run does not follow."""


NOT_TAKEN: Final = NotTaken()


@dataclass(frozen=True, slots=True)
class OutputMark:
    """Metadata that `@output` stores on a method."""

    name: str
    label: str
    help: str
    branch: bool


def output(
    *,
    name: str = "",
    label: str = "",
    help: str = "",  # noqa: A002 - the word the canvas uses
    branch: bool = False,
) -> Callable[[Method], Method]:
    """Make a method an output. Its type is the return annotation; the method may be async.

    Args:
        name: The output's name when a field already has the method's name; by default the method's name.
        label: Shown on the canvas; derived from the name when empty.
        help: One sentence that describes the output.
        branch: The method may return `NOT_TAKEN`; steps that depend only on this output are then skipped.
    """

    def mark(method: Method) -> Method:
        method.__headgate_output__ = OutputMark(name, label, help, branch)  # type: ignore[attr-defined]
        return method

    return mark


class ComponentError(Invalid):
    """A component received invalid input; names the component, the field and the remedy."""

    code = "component_error"
    title = "Component cannot run"


class Component(BaseModel):
    """Base of every component.

    The class docstring is the description for users and agents. An output method may be called more than once per run
    only if several outputs share work: keep shared results in a private attribute.
    """

    model_config = ConfigDict(
        extra="forbid", arbitrary_types_allowed=True, validate_default=False, coerce_numbers_to_str=True
    )

    label: ClassVar[str] = ""
    category: ClassVar[str] = "other"
    icon: ClassVar[str] = "box"
    keywords: ClassVar[tuple[str, ...]] = ()
    annotation: ClassVar[bool] = False
    effect: ClassVar[bool] = False
    model_using: ClassVar[bool] = False
    outside: ClassVar[bool] = False
    reads_input: ClassVar[bool] = False
    needs_extra: ClassVar[str] = ""

    _ctx: RunContext | None = PrivateAttr(default=None)

    @property
    def ctx(self) -> RunContext:
        """The run context of this step."""
        if self._ctx is None:
            raise ComponentError(
                f"{type(self).__name__} was used outside a run.", remedy="Attach a context with attach(ctx)."
            )
        return self._ctx

    def attach(self, ctx: RunContext) -> Self:
        """Attach the run context to the component."""
        self._ctx = ctx
        return self

    @classmethod
    def create(cls, values: Mapping[str, Any], *, node_id: str = "") -> Self:
        """Create the component from values, converting validation errors to one readable error.

        A text-only field gets numbers, true, false, lists and objects as text, so `compare: 1000` and `text:
        {{step.data}}` work as expected. JSON text in a field edited as JSON is parsed.
        """
        texts, jsons = text_fields(cls), json_fields(cls)
        try:
            inputs = {key: _as_text(value, texts[key]) if key in texts else value for key, value in values.items()}
            return cls(**{key: _from_json(value) if key in jsons else value for key, value in inputs.items()})
        except ValidationError as error:
            raise _readable(cls.__name__, node_id, error) from error

    @classmethod
    def template(cls, params: Mapping[str, JsonValue] | None = None) -> Template:
        """Return the component's template for a node's params."""
        fields = tuple(field_template(name, info) for name, info in cls.model_fields.items())
        return Template(
            type=cls.__name__,
            label=cls.label or _words(cls.__name__),
            description=inspect.cleandoc(cls.__doc__ or ""),
            category=cls.category,
            icon=cls.icon,
            keywords=cls.keywords,
            fields=fields + cls.extra_fields(params or {}),
            outputs=cls.declared_outputs() + cls.extra_outputs(params or {}),
            annotation=cls.annotation,
            effect=cls.effect,
            model_using=cls.model_using,
            outside=cls.outside,
            reads_input=cls.reads_input,
            extra=cls.needs_extra,
        )

    @classmethod
    def declared_outputs(cls) -> tuple[OutputTemplate, ...]:
        """Return the outputs of the `@output` methods, in source order, base classes first."""
        outputs: dict[str, OutputTemplate] = {}
        for name, (mark, method) in output_methods(cls).items():
            hint = get_type_hints(method, include_extras=True).get("return")
            outputs[name] = OutputTemplate(
                name=name,
                type=_output_type(cls.__name__, name, hint),
                label=mark.label or _words(name),
                help=mark.help,
                branch=mark.branch,
            )
        return tuple(outputs.values())

    @classmethod
    def extra_fields(cls, params: Mapping[str, JsonValue]) -> tuple[FieldTemplate, ...]:  # noqa: ARG003
        """Return ports that depend on the node's values; their values arrive through `receive_extra`."""
        return ()

    @classmethod
    def extra_outputs(cls, params: Mapping[str, JsonValue]) -> tuple[OutputTemplate, ...]:  # noqa: ARG003
        """Return outputs that depend on the node's values; produced by `produce_extra`."""
        return ()

    def receive_extra(self, values: Mapping[str, Any]) -> None:
        """Receive the values of the extra fields."""

    async def produce_extra(self, name: str) -> Any:  # noqa: ANN401 - any port value
        """Return the value of an extra output."""
        raise ComponentError(f"{type(self).__name__} has no output '{name}'.")

    def expect_outputs(self, names: Sequence[str]) -> None:
        """Receive the names of the requested outputs before the first is produced. Most components ignore it."""

    async def produce(self, name: str) -> Any:  # noqa: ANN401 - any port value
        """Return the value of one output, or `NOT_TAKEN`. Sync methods run on the event loop: keep them fast.

        Raises `ExtraNotInstalled` when the packages that the component needs are missing.
        """
        if self.needs_extra:
            require_extra(self.needs_extra, type(self).__name__)
        method = output_methods(type(self)).get(name)
        if method is None:
            return await self.produce_extra(name)
        result = method[1](self)
        return await result if inspect.isawaitable(result) else result

    @classmethod
    def tool_schema(cls) -> dict[str, JsonValue]:
        """Return the JSON Schema of the arguments when this component is an agent's tool."""
        fields = {name: field_template(name, info) for name, info in cls.model_fields.items()}
        model_schema: dict[str, Any] = {
            name: (Any if fields[name].schema_ else info.annotation, info)
            for name, info in cls.model_fields.items()
            if fields[name].tool_mode
        }
        arguments: type[BaseModel] = create_model(cls.__name__, **model_schema)
        schema = arguments.model_json_schema()
        properties = {name: _plain(value) for name, value in schema.get("properties", {}).items()}
        for field in fields.values():
            if field.name in properties and field.schema_:
                properties[field.name] |= field.schema_
        tool_parameters = {"type": "object", "properties": properties, "required": schema.get("required", [])}
        if "$defs" in schema:
            tool_parameters["$defs"] = schema["$defs"]
        return cast("dict[str, JsonValue]", tool_parameters | {"additionalProperties": False})


@lru_cache(maxsize=1024)
def output_methods(component: type[Component]) -> dict[str, tuple[OutputMark, Callable[..., Any]]]:
    """Return output names and methods, base classes first; an override keeps the position of the original."""
    methods: dict[str, tuple[OutputMark, Callable[..., Any]]] = {}
    for klass in reversed(component.__mro__):
        for attribute, method in vars(klass).items():
            mark = getattr(method, "__headgate_output__", None)
            if mark is not None:
                methods[mark.name or attribute] = (mark, method)
    return methods


def _as_text(value: Any, port: PortType) -> Any:  # noqa: ANN401 - any port value
    """Return an inline value for a text field; an object that is a message becomes a message, or its text."""
    if isinstance(value, dict) and "text" in value and set(value) <= set(Message.model_fields):
        message = Message.model_validate(value)
        return message if port is PortType.MESSAGE else message.text
    return text_of(value) if isinstance(value, bool | int | float | list | dict) else value


def _from_json(value: Any) -> Any:  # noqa: ANN401 - any port value
    """Return the list or object of its JSON text; other values unchanged, for pydantic to validate."""
    if isinstance(value, str) and value.lstrip().startswith(("[", "{")):
        with suppress(orjson.JSONDecodeError):
            return orjson.loads(value)
    return value


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != META}


def _output_type(component: str, name: str, hint: object) -> PortType:
    port_type = port_type_of(hint)
    if port_type is None:
        raise TypeError(f"{component}.{name}: annotate the return type with a port type; got {hint!r}")
    return port_type


def _words(name: str) -> str:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_", " ", name)
    return spaced[:1].upper() + spaced[1:]


def _readable(component: str, node_id: str, error: ValidationError) -> ComponentError:
    first = error.errors(include_url=False)[0]
    location = ".".join(str(part) for part in first["loc"]) or "input"
    subject = f"{node_id} ({component})" if node_id else component
    if first["type"] == "missing":
        return ComponentError(
            f"{subject}: field '{location}' is empty.",
            remedy=f"Set '{location}' or connect something to it.",
            field=location,
        )
    return ComponentError(
        f"{subject}: field '{location}': {first['msg']}.", remedy=f"Correct '{location}'.", field=location
    )
