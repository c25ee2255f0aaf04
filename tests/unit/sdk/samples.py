"""Components that the SDK's own tests run."""

from typing import Literal

from pydantic import SecretStr

from headgate.graph.ports import PortType
from headgate.graph.template import OutputTemplate
from headgate.sdk import NOT_TAKEN, Component, Data, Message, Model, NotTaken, Table, Text, Tool, field, output


class Sample(Component):
    """Says a thing several times."""

    label = "Say again"
    category = "text"
    icon = "repeat"
    keywords = ("echo", "parrot")

    text: str | Message = field(label="What", help="What to say.", main=True, tool_mode=True)
    times: int = field(default=2, help="How often.", ge=1, le=5, tool_mode=True)
    shape: dict[str, Data] = field(default_factory=dict, name="schema", help="Ignored.")
    mode: Literal["loud", "quiet"] = field(default="quiet")
    key: SecretStr | None = field(default=None)
    model: Model | None = field(default=None)
    tools: list[Tool] = field(default_factory=list, many=True)
    parts: list[str | Table] = field(default_factory=list, many=True)

    @output(name="text", help="The text, repeated.")
    def give_text(self) -> Text:
        """The text, repeated."""
        said = self.text.text if isinstance(self.text, Message) else self.text
        return " ".join([said] * self.times)

    @output()
    async def data(self) -> Data:
        """Several values."""
        return [self.times, self.mode]

    @output(branch=True)
    def loud(self) -> Text | NotTaken:
        """Only when loud."""
        return "LOUD" if self.mode == "loud" else NOT_TAKEN

    @classmethod
    def extra_outputs(cls, params: object) -> tuple[OutputTemplate, ...]:
        """One output more."""
        return (OutputTemplate(name="late", type=PortType.TEXT),)

    async def produce_extra(self, name: str) -> str:
        """The late output."""
        return f"{name}!"
