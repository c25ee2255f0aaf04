"""Creates the folder of a new pack, which passes its own tests."""

from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from headgate import __version__
from headgate.features.packs.building import SOURCE
from headgate.features.packs.errors import BadPack
from headgate.features.packs.manifest import PackName

_NAME = TypeAdapter(PackName)
_TOML = """\
name = "{name}"
version = "0.1.0"
title = "{title}"
description = "Replace this by what the pack is for."
author = "Replace this by your name"

# Hosts that the components connect to, and modules that they import besides the standard library and headgate.sdk.
hosts = []
libraries = []

[headgate]
since = "{version}"
"""
_COMPONENT = '''\
"""A component of the pack. It imports the standard library, `headgate.sdk` and declared libraries only."""

from headgate.sdk import Component, ComponentError, Text, field, output


class {type_}(Component):
    """Repeats a text. Replace this component by yours."""

    label = "{title}"
    category = "text"
    keywords = ("repeat",)

    text: str = field(label="Text", help="The text to repeat.", main=True, tool_mode=True)
    times: int = field(default=2, label="Times", help="How often.", ge=1, le=100)

    @output(help="The repeated text.")
    def repeated(self) -> Text:
        """The text, as often as requested."""
        if not self.text.strip():
            raise ComponentError("The text is empty.", remedy="Connect a text to 'text'.", field="text")
        return " ".join([self.text] * self.times)
'''
_TEMPLATE = "\n".join(
    (
        "---",
        "title: {title}",
        "description: Repeats a text.",
        "category: text",
        "tags: repeat",
        "swedish: upprepa min text",
        "- repeat my text",
        "---",
        "name: {title}",
        "nodes:",
        "  text: TextInput",
        "  repeat: {type_}",
        "    times: 3",
        "  out: ChatOutput",
        "edges:",
        "  text.text -> repeat.text",
        "  repeat.repeated -> out.input",
        "---",
        'text: "hey"',
        'shows: ["hey hey hey"]',
        "",
    )
)
_CONNECTION = """\
{{
  "label": "{title}",
  "description": "Replace this by the service, and where its users create a token.",
  "kind": "bearer",
  "fields": {{"url": "https://api.example.org"}},
  "keywords": ["example"]
}}
"""
_WORDS = """\
{
  "Repeats a text.": "Upprepar en text.",
  "The text to repeat.": "Texten som upprepas.",
  "How often.": "Hur ofta."
}
"""
_CASES = """\
[
  {{"component": "{type_}", "values": {{"text": "a", "times": 3}}, "outputs": {{"repeated": "a a a"}}}},
  {{"component": "{type_}", "values": {{"text": " "}}, "error": "The text is empty"}}
]
"""


def new_pack(name: str, folder: Path) -> Path:
    """Create the folder of a pack inside a folder, and return it. Raises `BadPack`."""
    try:
        _NAME.validate_python(name)
    except ValidationError as error:
        raise BadPack(
            f"'{ascii(name[:60])[1:-1]}' is not a valid name",
            remedy="Use lower-case letters, digits and single hyphens, starting with a letter, such as acme-tools.",
        ) from error
    words = name.split("-")
    texts = {
        "name": name,
        "title": " ".join(words).capitalize(),
        "type_": "".join(word.capitalize() for word in words),
        "version": __version__,
    }
    files = {
        SOURCE: _TOML.format(**texts),
        f"components/{name.replace('-', '_')}.py": _COMPONENT.format(**texts),
        "templates/first.flow": _TEMPLATE.format(**texts),
        "connections/service.json": _CONNECTION.format(**texts),
        "translations/sv.json": _WORDS,
        "tests/cases.json": _CASES.format(**texts),
    }
    target = folder / name
    try:
        target.mkdir(parents=True)
        for path, text in files.items():
            (target / path).parent.mkdir(exist_ok=True)
            (target / path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadPack(f"{target} cannot be created: {error.strerror}", remedy="Choose another folder.") from error
    return target
