"""Text components: a template, several texts joined."""

import re
from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue, PrivateAttr

from headgate.components.wording import unescaped
from headgate.graph.ports import PortType
from headgate.graph.template import FieldKind, FieldTemplate
from headgate.sdk import Component, ComponentError, Text, field, output
from headgate.sdk.coerce import text_of

_PLACEHOLDER = re.compile(r"(?<!\{)\{([a-z_][a-z0-9_]{0,63})\}(?!\})")


class PromptTemplate(Component):
    """Fills a text with values: every `{name}` in the template becomes an input of that name."""

    label = "Prompt template"
    category = "text"
    icon = "braces"
    keywords = (
        "fill", "placeholder", "variables", "format", "mail merge", "letter", "compose", "wording", "instructions",
        "insert", "interpolate", "substitute", "write", "message", "boilerplate",
    )  # fmt: skip

    template_text: str = field(
        name="template",
        label="Template",
        help="Text with {name} where a value goes; names in lower case. {{...}} refers to other steps.",
        kind=FieldKind.MULTILINE,
        port=False,
        max_length=200_000,
    )
    _values: dict[str, Any] = PrivateAttr(default_factory=dict)

    @classmethod
    def extra_fields(cls, params: Mapping[str, JsonValue]) -> tuple[FieldTemplate, ...]:
        """Return one text port per `{name}`, in order of appearance."""
        template = params.get("template")
        names = placeholders(template) if isinstance(template, str) else ()
        return tuple(
            FieldTemplate(
                name=name,
                kind=FieldKind.MULTILINE,
                label=name.replace("_", " ").capitalize(),
                help=f"Replaces {{{name}}} in the template.",
                required=True,
                types=(PortType.TEXT,),
                main=position == 0,
            )
            for position, name in enumerate(names)
        )

    def receive_extra(self, values: Mapping[str, Any]) -> None:
        """Receive the values of the placeholders."""
        self._values = dict(values)

    @output(help="The template with every {name} replaced.")
    def text(self) -> Text:
        """Fill in one pass, so that braces inside a value stay unchanged. Raises for an empty placeholder."""

        def filled(match: re.Match[str]) -> str:
            name = match[1]
            if name == "template":
                return match[0]
            value = self._values.get(name)
            if value is None:
                raise ComponentError(
                    f"PromptTemplate: there is no value for {{{name}}}.",
                    remedy=f"Connect an input to '{name}' or set a value.",
                    field=name,
                )
            return text_of(value)

        return _PLACEHOLDER.sub(filled, self.template_text)


def placeholders(template: str) -> tuple[str, ...]:
    """Return the names in single braces, each once; `{{...}}`, `{a b}` and `{template}` are not names."""
    return tuple(dict.fromkeys(name for name in _PLACEHOLDER.findall(template) if name != "template"))


class CombineText(Component):
    """Joins several texts into one, in the order of the connections, with an optional heading."""

    label = "Combine text"
    category = "text"
    icon = "combine"
    keywords = (
        "join", "concatenate", "concat", "merge", "append", "glue", "together", "collect", "assemble", "stack",
        "fan-in", "aggregate", "report", "sections",
    )  # fmt: skip

    parts: list[str] = field(label="Parts", help="The texts, in the order they were connected.", main=True, many=True)
    separator: str = field(
        default="\n\n", label="Between parts", help="Separator between two parts; \\n is a line break.", port=False
    )
    title: str = field(default="", label="Heading", help="A Markdown heading at the top.", port=False)
    skip_empty: bool = field(default=True, label="Omit empty parts", help="Ignore blank parts.", advanced=True)

    @output(help="The parts as one text.")
    def text(self) -> Text:
        """Return the joined text."""
        parts = [part for part in self.parts if part.strip() or not self.skip_empty]
        joined = unescaped(self.separator).join(parts)
        return f"# {self.title.strip()}\n\n{joined}" if self.title.strip() else joined
