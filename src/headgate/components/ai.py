"""A single model call."""

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
from headgate.components.data.json_text import parse_json
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
        default="", label="Input", help="What to send, including images and documents of a message.", main=True
    )
    files: list[File] = files_field()
    system: str = field(default="", label="System prompt", help="Instructions for the model.", kind=FieldKind.MULTILINE)
    temperature: float | None = temperature_field()
    assistant: str = assistant_field()
    _answer: str | None = PrivateAttr(default=None)

    @output(help="The answer.")
    async def text(self) -> Text:
        """Return the model's output; the model is called once per step."""
        if self._answer is None:
            text, files = input_text(self.input), (*input_files(self.input), *self.files)
            if not text.strip() and not files:
                raise ComponentError(
                    "LanguageModel: there is nothing to send.", remedy="Connect a text or write one.", field="input"
                )
            question = for_model(text, self.ctx.outside("input"))
            self._answer = await ask(self.ctx, self._chosen(), system=self.system, text=question, files=files)
        return self._answer

    @output(help="The answer as a message of role assistant.")
    async def message(self) -> Message:
        """Return the output as a message."""
        return Message(role="assistant", text=await self.text())

    @output(name="model", label="Model", help="This model, for an agent or another step. Makes no request.")
    def configured(self) -> Model:
        """Return the model with the temperature of this component."""
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
        help="Tools the model may call before it answers: connect tool outputs. None: it is called once.",
        many=True,
    )
    input: str | Data | Table | Message = field(
        default=None,
        label="Input",
        help="The input to process; sent to the model after the prompt.",
        main=True,
        tool_mode=True,
        schema={"type": "string"},
    )
    files: list[File] = files_field()
    output_type: Literal["text", "json"] = field(
        default="text", label="Answer", help="text, or json: the answer must be JSON and is validated."
    )
    system: str = field(
        default="", label="System prompt", help="Instructions for the model.", kind=FieldKind.MULTILINE, advanced=True
    )
    max_steps: int = field(
        default=8,
        label="Most steps",
        help="With tools: how many times the model may be called before the step fails.",
        ge=1,
        le=100,
        advanced=True,
    )
    temperature: float | None = temperature_field()
    assistant: str = assistant_field()
    _answer: str | None = PrivateAttr(default=None)

    @output(name="output", label="Output", help="The answer; for json without code fences.")
    async def give_output(self) -> Text:
        """Return the model's output; the model is called once per step."""
        output = await self._asked()
        return text_of(self._parsed(output)) if self.output_type == "json" else output

    @output(help="The parsed JSON; for text the text itself.")
    async def data(self) -> Data:
        """Return the output as data. Raises `ComponentError` with its beginning when it should be JSON and is not."""
        output = await self._asked()
        return self._parsed(output) if self.output_type == "json" else output

    async def _asked(self) -> str:
        if self._answer is None:
            marks = self.ctx.outside("input")
            question = composed(self.prompt, self.input, as_json=self.output_type == "json", marks=marks)
            model = with_temperature(self.model, self.temperature)
            files = (*input_files(self.input), *self.files)
            if self.tools:
                loop = ToolLoop(self.ctx, "AIStep", model, self.tools, self.max_steps)
                self._answer = await loop.run(system=self.system, text=question, files=files)
            else:
                self._answer = await ask(self.ctx, model, system=self.system, text=question, files=files)
        return self._answer

    def _parsed(self, output: str) -> JsonValue:
        return parse_json(
            output,
            subject="AIStep",
            error_of=lambda reason: ComponentError(
                f"AIStep: {self.model} should have answered with JSON ({reason}). Its answer: {clipped(output, 200)}",
                remedy="Specify the JSON fields in the prompt, or use StructuredOutput.",
                answer=clipped(output, 2000),
            ),
        )


def composed(prompt: str, value: str | Data | Table | Message, *, as_json: bool, marks: Marks) -> str:
    """Return the user message: the prompt, then the input separated from it, then the request for JSON.

    With `marks` the input is external content and is quoted as data.
    """
    text = for_model("" if value is None else text_of(value), marks)
    parts = [prompt.strip(), f"<input>\n{text}\n</input>" if text.strip() else "", _JSON_ONLY if as_json else ""]
    return "\n\n".join(part for part in parts if part)
