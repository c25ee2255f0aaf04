"""Input components: chat text, fixed text, the run's form, uploaded files."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, cast

from pydantic import BeforeValidator, JsonValue

from headgate.components.typed_values import declared, declared_types, of_answer, typed_outputs
from headgate.components.wording import listed_text
from headgate.graph.names import did_you_mean, listed
from headgate.graph.template import FieldKind, OutputTemplate
from headgate.graph.value_names import FORM_OUTPUTS
from headgate.sdk import Component, ComponentError, Data, File, Message, Text, field, output
from headgate.sdk.coerce import text_of


class ChatInput(Component):
    """Starts a flow with what the user wrote in the chat, and the files that came with it."""

    label = "Chat input"
    category = "input"
    reads_input = True
    icon = "message-circle"
    keywords = (
        "user", "question", "ask", "prompt", "conversation", "say", "message", "start", "begin", "trigger", "talk",
        "chatbot", "receive", "query", "attachment",
    )  # fmt: skip

    text: str = field(
        default="",
        label="Text",
        help="Text to use instead of the run's input; empty uses the run's input text.",
        port=False,
        kind=FieldKind.MULTILINE,
    )

    @output(name="text", label="Text", help="What the user wrote.")
    def give_text(self) -> Text:
        """Return the text of the component, else the run's input text."""
        return self.text or self.ctx.input.text

    @output(help="The same as a message of role user, with the files attached.")
    def message(self) -> Message:
        """Return the text and the run's files as one message."""
        return Message(role="user", text=self.give_text(), files=self.ctx.input.files)

    @output(help="The run's files: a list of objects with id, name, media_type and size.")
    def files(self) -> Data:
        """Return the run's files as data."""
        return _as_data(self.ctx.input.files)


class TextInput(Component):
    """Gives a text: one written here, or, when empty, the text the run was started with."""

    label = "Text input"
    category = "input"
    reads_input = True
    icon = "type"
    keywords = (
        "string", "constant", "literal", "value", "paragraph", "static", "variable", "write", "enter", "type",
        "start", "words", "content", "source",
    )  # fmt: skip

    text: str = field(
        default="",
        label="Text",
        help="The text to output; empty uses the run's input text.",
        kind=FieldKind.MULTILINE,
        main=True,
        tool_mode=True,
    )

    @output(name="text", label="Text", help="The text.")
    def give_text(self) -> Text:
        """Return the text of the component, else the run's input text."""
        return self.text or self.ctx.input.text


class FormInput(Component):
    """Gives the answers of the form that started the run, as one object and as readable lines."""

    label = "Form input"
    category = "input"
    reads_input = True
    icon = "clipboard-list"
    keywords = (
        "questions", "answers", "fields", "survey", "submit", "submission", "intake", "application", "questionnaire",
        "parameters", "values", "start", "register",
    )  # fmt: skip

    only: Annotated[list[str], BeforeValidator(listed_text)] = field(
        default_factory=list,
        label="Only these fields",
        help="Ids of the form fields to output, in this order; empty outputs all.",
        port=False,
        schema={"type": "array", "items": {"type": "string"}},
    )
    types: dict[str, str] = declared_types(
        label="Typed outputs",
        help="Form fields that get an output of their own, each with its type: Text, Data, Table, Message or File.",
    )

    @classmethod
    def extra_outputs(cls, params: Mapping[str, JsonValue]) -> tuple[OutputTemplate, ...]:
        """Return one output per field that the node declares."""
        return typed_outputs(declared(params.get("types"), FORM_OUTPUTS))

    async def produce_extra(self, name: str) -> Any:  # noqa: ANN401 - any port value
        """Return the answer of one field in its declared type."""
        type_ = declared(cast("JsonValue", self.types), FORM_OUTPUTS)[name]
        run = self.ctx.input
        return of_answer(run.form_data.get(name), type_, run.files, subject=f"FormInput: {name}")

    @output(help="One object: form field id to answer.")
    def data(self) -> Data:
        """Return the selected answers; an empty field is null."""
        form_data = self.ctx.input.form_data
        if not self.only:
            return dict(form_data)
        for name in self.only:
            if name not in form_data:
                self.ctx.log(f"The form of this run has no field '{name}'{did_you_mean(name, form_data)}")
        return {name: form_data.get(name) for name in self.only}

    @output(help="One line per field, `id: answer`.")
    def text(self) -> Text:
        """Return the selected answers as lines."""
        form_data = self.data()
        pairs = form_data.items() if isinstance(form_data, dict) else []
        return "\n".join(f"{name}: {'' if value is None else text_of(value)}" for name, value in pairs)


class FileInput(Component):
    """Gives a file that was uploaded for the run: the one of a form field, or the first."""

    label = "File input"
    category = "input"
    reads_input = True
    icon = "paperclip"
    keywords = (
        "upload", "document", "attachment", "attach", "pdf", "docx", "csv", "spreadsheet", "image", "picture",
        "audio", "open", "load", "import", "drop",
    )  # fmt: skip

    field_id: str = field(
        default="",
        name="field",
        label="Form field",
        help="Id of the form field with the file; empty uses the first file of the run.",
        port=False,
    )

    @output(help="The file; connect it to Read file to get its text.")
    def file(self) -> File:
        """Return the first requested file."""
        return self._chosen()[0]

    @output(help="Every file of that field, or of the run: a list of objects with id, name, media_type and size.")
    def files(self) -> Data:
        """Return all requested files, as data."""
        return _as_data(self._chosen())

    def _chosen(self) -> Sequence[File]:
        run = self.ctx.input
        if not self.field_id:
            if not run.files:
                raise ComponentError(
                    "FileInput: this run has no file.",
                    remedy="Start the run with a file, or add a file field to the form.",
                )
            return run.files
        answer = run.form_data.get(self.field_id)
        files = [self._file_of(value) for value in (answer if isinstance(answer, list) else [answer]) if value]
        if not files:
            hint = did_you_mean(self.field_id, run.form_data)
            raise ComponentError(
                f"FileInput: the form field '{self.field_id}' has no file{hint}",
                remedy=f"Fields of this run: {listed(run.form_data)}.",
                field="field",
            )
        return files

    def _file_of(self, value: JsonValue) -> File:
        """Return the file of the run that a form answer names, by id or name. Ids of other files have no effect."""
        by_key = {key: file for file in reversed(self.ctx.input.files) for key in (file.name, file.id)}
        key = value.get("id") if isinstance(value, dict) else value
        if isinstance(key, str) and key in by_key:
            return by_key[key]
        raise ComponentError(
            f"FileInput: the form field '{self.field_id}' is not a file.",
            remedy="Choose a file field.",
            field="field",
        )


def _as_data(files: Sequence[File]) -> Data:
    return [file.model_dump(mode="json") for file in files]
