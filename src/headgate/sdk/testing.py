"""Unit tests for your components: `StepHarness` runs one like a step, in memory, without external services.

harness = StepHarness(text="hello")
outputs = await harness.run(TextInput, {})
assert outputs == {"text": "hello"}
"""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue, SecretStr

from headgate.graph.ports import CONFIGURATION_TYPES, PortType, accepts
from headgate.graph.secret_reference import typed_params
from headgate.graph.template import FieldTemplate
from headgate.sdk.coerce import coerce, decode, encode
from headgate.sdk.component import NOT_TAKEN, Component
from headgate.sdk.connections import Connection, DescribedOperation, undescribed
from headgate.sdk.context import RunInput
from headgate.sdk.fakes import CodeCall, CodeHandler, FakeCode, FakeContext, FakeFiles, FakeHttp, SentRequest
from headgate.sdk.values import Message, Table

if TYPE_CHECKING:  # named without importing LangChain
    from langchain_core.language_models import BaseChatModel

__all__ = ["CodeCall", "FakeCode", "FakeContext", "FakeFiles", "FakeHttp", "SentRequest", "StepHarness"]


class StepHarness:
    """Runs components as steps: edge values are converted as in a real run, outputs must have their declared types.

    Args:
        text: The run's input text.
        form: The run's form data.
        files: Uploaded files, name to content.
        history: Earlier messages of the chat, oldest first.
        secrets: Name to value.
        chat_model: A LangChain chat model, for example one of LangChain's fakes.
        code: Handles calls to the sandbox.
    """

    def __init__(
        self,
        *,
        text: str = "",
        form: Mapping[str, JsonValue] | None = None,
        files: Mapping[str, bytes] | None = None,
        history: Iterable[Message] = (),
        secrets: Mapping[str, str] | None = None,
        chat_model: "BaseChatModel | None" = None,
        code: CodeHandler | None = None,
    ) -> None:
        self.ctx = FakeContext(model=chat_model, secrets=dict(secrets or {}), code=FakeCode(code))
        uploaded = tuple(self.ctx.files.add(name, content) for name, content in (files or {}).items())
        self.ctx.input = RunInput(text=text, form_data=dict(form or {}), files=uploaded, history=tuple(history))

    @property
    def http(self) -> FakeHttp:
        """The fake web."""
        return self.ctx.http

    def connect(
        self,
        name: str,
        kind: str,
        fields: Mapping[str, JsonValue] | None = None,
        *,
        secrets: Mapping[str, str] | None = None,
        hosts: Iterable[str] = (),
        operation: Callable[[str], Awaitable[DescribedOperation]] = undescribed,
    ) -> Connection:
        """Add a connection that components may name; its addresses resolve to `127.0.0.1`, its HTTP is the fake web.

        Args:
            name: Its name.
            kind: Its kind.
            fields: Values that are no secret.
            secrets: Values of its secret fields.
            hosts: Servers that it may reach, such as `127.0.0.1:5432`; by default `host:port` of the fields.
            operation: Returns the operations of its API.
        """
        values = dict(fields or {})
        own_hosts = tuple(hosts) or (f"{values.get('host', '127.0.0.1')}:{values.get('port', 0)}",)

        async def resolve(_host: str, _port: int) -> list[str]:
            return ["127.0.0.1"]

        connection = Connection(
            name,
            kind,
            values,
            own_hosts,
            self.ctx.http,
            resolve,
            {key: SecretStr(value) for key, value in (secrets or {}).items()},
            operation=operation,
        )
        self.ctx.connections[name] = connection
        return connection

    async def run(
        self, component: type[Component], values: Mapping[str, Any], *, outputs: Iterable[str] | None = None
    ) -> dict[str, Any]:
        """Run a component and return its outputs by name; `NOT_TAKEN` for branches it did not follow.

        Every output except Model and Tool is converted to JSON and back, as in a real run.
        Raises the component's errors, and `ValueMismatch` when an output does not have its declared type.
        """
        template = component.template(values)
        extra = {field.name for field in component.extra_fields(values)}
        typed = typed_params(values, template)
        inputs = {name: _across(value, template.field(name)) for name, value in typed.items()}
        step = component.create({name: value for name, value in inputs.items() if name not in extra})
        step.receive_extra({name: value for name, value in inputs.items() if name in extra})
        step.attach(self.ctx)
        requested = list(outputs) if outputs is not None else [out.name for out in template.outputs]
        step.expect_outputs(requested)
        types = {out.name: out.type for out in template.outputs}
        return {name: _through_json(await step.produce(name), types.get(name)) for name in requested}


def _through_json(value: Any, port_type: PortType | None) -> Any:  # noqa: ANN401 - any port value
    if value is NOT_TAKEN or port_type is None or port_type in CONFIGURATION_TYPES:
        return value
    return decode(json.loads(json.dumps(encode(value, port_type))), port_type)


def _across(value: Any, template: FieldTemplate | None) -> Any:  # noqa: ANN401 - any port value
    """Return the value as an edge into this field delivers it; values that no edge could carry are inline values."""
    if template is None or not template.types:
        return value
    if template.many:
        return [_across(item, template.model_copy(update={"many": False})) for item in value]
    source = _edge_type(value)
    return coerce(value, source, template.types) if source and accepts(source, template.types) else value


def _edge_type(value: object) -> PortType | None:
    by_class = {Table: PortType.TABLE, Message: PortType.MESSAGE, dict: PortType.DATA, list: PortType.DATA}
    return next((kind for cls, kind in by_class.items() if isinstance(value, cls)), None)
