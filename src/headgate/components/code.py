"""The component for Python code in a flow."""

from pydantic import JsonValue, PrivateAttr

from headgate.graph.ports import PortType
from headgate.graph.template import FieldKind
from headgate.sdk import Component, Data, Table, Text, field, output
from headgate.sdk.coerce import data_of, table_of, text_of


class Python(Component):
    """Runs your own Python function `run(inputs)` in the sandbox and gives what it returns.

    A table arrives as a list of objects; a returned list of objects is a table again. There is no network and no disk.
    """

    label = "Python"
    category = "code"
    icon = "code"
    keywords = (
        "script", "function", "custom", "program", "own code", "snippet", "transform", "compute", "logic", "lambda",
        "sandbox", "execute", "def", "algorithm", "pandas",
    )  # fmt: skip

    inputs: Data | str | Table = field(
        label="Inputs",
        help="The value passed to run(inputs).",
        main=True,
        types=(PortType.DATA, PortType.TEXT, PortType.TABLE),
    )
    source: str = field(
        label="Code",
        help="Python that defines run(inputs) and returns text, numbers, lists or objects, e.g. def run(inputs): ...",
        kind=FieldKind.CODE,
        port=False,
        interpolate=False,
        max_length=200_000,
    )
    timeout_seconds: float = field(
        default=10.0, label="Time limit", help="Maximum run time of the code in seconds.", ge=0.1, le=120, advanced=True
    )
    _value: JsonValue = PrivateAttr(default=None)
    _done: bool = PrivateAttr(default=False)

    @output(help="The return value of run.")
    async def result(self) -> Data:
        """Return the result; the code runs once per step."""
        if not self._done:
            arguments = {"inputs": data_of(self.inputs)}
            self._value = await self.ctx.code.call(self.source, "run", arguments, timeout_seconds=self.timeout_seconds)
            self._done = True
        return self._value

    @output(help="The result as text.")
    async def text(self) -> Text:
        """Return the result as text."""
        return text_of(await self.result())

    @output(help="The result as rows, when it is a list of objects.")
    async def table(self) -> Table:
        """Return the result as a table."""
        return table_of(await self.result())
