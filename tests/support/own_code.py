"""Own components for tests."""

REVERSE = '''from headgate.sdk import Component, Text, field, output


class ReverseText(Component):
    """Turns text around."""

    text: str = field(label="Text", help="What to turn around.", tool_mode=True)
    mark: str = field(default="", label="Mark")

    @output(help="The text from its end.")
    def reversed_text(self) -> Text:
        self.ctx.log("turning", length=len(self.text))
        return self.text[::-1] + self.mark
'''
"""A small one that passes."""

REVERSE_SPEC = """name: Backwards
nodes:
  heard: ChatInput
  back: ReverseText
    mark: "!"
    code: |
{code}
  said: ChatOutput
edges:
  heard.text -> back.text
  back.reversed_text -> said.input
"""


def component(body: str, head: str = "") -> str:
    """A class `Sample` around lines that declare its fields and outputs."""
    lines = "\n".join(f"    {line}" if line else "" for line in body.strip("\n").splitlines())
    imports = "from headgate.sdk import NOT_TAKEN, Component, Data, Message, Table, Text, field, output\n"
    return f'{imports}{head}\n\nclass Sample(Component):\n    """A sample."""\n\n{lines}\n'
