"""A model's answer to a prompt."""

from typing import Literal

from pydantic import JsonValue, PrivateAttr

from headgate.components.chat import (
    ModelStep,
    ask,
    assistant_field,
    files_field,
    input_files,
    input_text,
    model_field,
    temperature_field,
    with_temperature,
)
from headgate.components.json_text import parse_json
from headgate.components.tool_loop import ToolLoop
from headgate.graph.names import clipped
from headgate.graph.template import FieldKind
from headgate.sdk import ComponentError, Data, File, Message, Model, Table, Text, Tool, field, output
from headgate.sdk.coerce import text_of
from headgate.sdk.outside import Marks, for_model

_JSON_ONLY = "Answer with JSON only: no words before or after it."


class LanguageModel(ModelStep):
    """Sends a text or message to a chat model and streams its answer. Its `model` output configures agents."""

    label = "Language model"
    category = "ai"
    icon = "brain"
    keywords = (
        "llm", "gpt", "claude", "gemini", "llama", "openai", "anthropic", "chat", "generate", "completion", "ai",
        "answer", "write", "assistant", "chatgpt", "model", "respond", "ollama",
    )  # fmt: skip

    model: Model = model_field()
    input: str | Message = field(
        default="", label="Input", help="What to send; images and documents of a message go along.", main=True
    )
    files: list[File] = files_field()
    system: str = field(
        default="", label="System prompt", help="How the model should behave.", kind=FieldKind.MULTILINE
    )
    temperature: float | None = temperature_field()
    assistant: str = assistant_field()
    _answer: str | None = PrivateAttr(default=None)

    @output(help="The answer.")
    async def text(self) -> Text:
        """The model's answer; asked once a step."""
        if self._answer is None:
            text, files = input_text(self.input), (*input_files(self.input), *self.files)
            if not text.strip() and not files:
                raise ComponentError(
                    "LanguageModel: there is nothing to send.", remedy="Connect a text or write one.", field="input"
                )
            asked = for_model(text, self.ctx.outside("input"))
            self._answer = await ask(self.ctx, self._chosen(), system=self.system, text=asked, files=files)
        return self._answer

    @output(help="The answer as a message of role assistant.")
    async def message(self) -> Message:
        """The answer as a message."""
        return Message(role="assistant", text=await self.text())

    @output(name="model", label="Model", help="This model, for an agent or another step. Asks it nothing.")
    def configured(self) -> Model:
        """The model with the temperature set here."""
        return self._chosen()

    def _chosen(self) -> Model:
        return with_temperature(self.model, self.temperature)


class AIStep(ModelStep):
    """Asks a model to do something with its input: summarise, translate, classify, extract, rewrite."""

    label = "AI step"
    category = "ai"
    icon = "sparkles"
    keywords = (
        "summarise", "summarize", "summary", "translate", "classify", "extract", "rewrite", "prompt", "llm",
        "generate", "ask", "analyse", "analyze", "categorise", "draft", "explain", "ai", "gpt", "improve", "write",
    )  # fmt: skip

    prompt: str = field(
        label="Prompt",
        help="What the model should do; {{...}} puts in values of other steps.",
        kind=FieldKind.MULTILINE,
        port=False,
        max_length=500_000,
    )
    model: Model = model_field()
    tools: list[Tool] = field(
        default_factory=list,
        label="Tools",
        help="What the model may call before it answers: connect tool outputs. None: it is asked once.",
        many=True,
    )
    input: str | Data | Table | Message = field(
        default=None,
        label="Input",
        help="What to do it with; goes to the model after the prompt.",
        main=True,
        tool_mode=True,
        schema={"type": "string"},
    )
    files: list[File] = files_field()
    output_type: Literal["text", "json"] = field(
        default="text", label="Answer", help="text, or json: the answer must be JSON and is checked."
    )
    system: str = field(
        default="", label="System prompt", help="How the model should behave.", kind=FieldKind.MULTILINE, advanced=True
    )
    max_steps: int = field(
        default=8,
        label="Most steps",
        help="With tools: how often the model may be asked before the step fails.",
        ge=1,
        le=100,
        advanced=True,
    )
    temperature: float | None = temperature_field()
    assistant: str = assistant_field()
    _answer: str | None = PrivateAttr(default=None)

    @output(name="output", label="Output", help="The answer; for json without fences around it.")
    async def give_output(self) -> Text:
        """The model's answer; asked once a step."""
        answer = await self._asked()
        return text_of(self._parsed(answer)) if self.output_type == "json" else answer

    @output(help="The parsed JSON; for text the text itself.")
    async def data(self) -> Data:
        """The answer as data. Raises `ComponentError` with the answer's beginning when it should be JSON and is not."""
        answer = await self._asked()
        return self._parsed(answer) if self.output_type == "json" else answer

    async def _asked(self) -> str:
        if self._answer is None:
            marks = self.ctx.outside("input")
            asked = composed(self.prompt, self.input, as_json=self.output_type == "json", marks=marks)
            model = with_temperature(self.model, self.temperature)
            files = (*input_files(self.input), *self.files)
            if self.tools:
                loop = ToolLoop(self.ctx, "AIStep", model, self.tools, self.max_steps)
                self._answer = await loop.run(system=self.system, text=asked, files=files)
            else:
                self._answer = await ask(self.ctx, model, system=self.system, text=asked, files=files)
        return self._answer

    def _parsed(self, answer: str) -> JsonValue:
        return parse_json(
            answer,
            who="AIStep",
            wrong=lambda reason: ComponentError(
                f"AIStep: {self.model} should have answered with JSON ({reason}). It said: {clipped(answer, 200)}",
                remedy="Say in the prompt which fields the JSON has, or use StructuredOutput.",
                answer=clipped(answer, 2000),
            ),
        )


def composed(prompt: str, value: str | Data | Table | Message, *, as_json: bool, marks: Marks) -> str:
    """The user message: the prompt, then the input set off from it, then the wish for JSON.

    With `marks` the input comes from outside and is quoted as data.
    """
    text = for_model("" if value is None else text_of(value), marks)
    parts = [prompt.strip(), f"<input>\n{text}\n</input>" if text.strip() else "", _JSON_ONLY if as_json else ""]
    return "\n\n".join(part for part in parts if part)
