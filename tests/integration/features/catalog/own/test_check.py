"""Code that wants to be a component: what passes, and what is said of the rest."""

from typing import Any

import pytest

from headgate.features.catalog.own.check import ComponentChecker
from headgate.features.catalog.own.errors import ComponentNotMade
from headgate.features.catalog.registry import Registry
from headgate.sandbox.pool import SandboxPool
from tests.support.own_code import REVERSE, component

pytestmark = [pytest.mark.isolated, pytest.mark.asyncio(loop_scope="module")]
TEXT_OUTPUT = "@output()\ndef said(self) -> Text:\n    return "


async def faults(checker: ComponentChecker, code: str) -> list[dict[str, Any]]:
    with pytest.raises(ComponentNotMade) as caught:
        await checker.check("tenant", code)
    found: Any = caught.value.extra["findings"]
    return list(found)


class TestComponentChecker:
    async def test_gives_what_the_class_says_of_itself(self, checker: ComponentChecker) -> None:
        made = await checker.check("tenant", REVERSE)
        assert (made.type, made.note, made.manifest.hosts) == ("ReverseText", "", ())
        assert [(one.name, one.required) for one in made.template.fields] == [("text", True), ("mark", False)]
        assert [one.name for one in made.template.outputs] == ["reversed_text"]
        assert made.template.description == "Turns text around."

    @pytest.mark.parametrize(
        ("code", "line", "expected"),
        [
            ("class Broken(:", 1, "syntax error"),
            (component("import os\n" + TEXT_OUTPUT + "os.environ['A']"), 10, "os.environ"),
            (component("x: str = field()\n" + TEXT_OUTPUT + "nobody"), 10, "name 'nobody' is not defined"),
            (component("@output()\ndef said(self) -> Text:\n    return 3"), 4, "A Text was expected"),
            (component("@output()\ndef said(self):\n    return ''"), 4, "annotate the return"),
            (component("@output()\ndef to_toolkit(self) -> Text:\n    return ''"), 8, "reserved"),
            (component("@output(name='component_as_tool')\ndef it(self) -> Text:\n    return ''"), 8, "reserved"),
            (component("a: str = field()"), 4, "has no output"),
            ("x = 1", 1, "no component"),
            (REVERSE + REVERSE.replace("ReverseText", "Other"), 17, "2 components"),
            (
                REVERSE.replace("ReverseText", "ChatInput"),
                4,
                "is already installed",
            ),
            (REVERSE.replace("ReverseText", "CHATINPUT"), 4, "a component 'ChatInput' is already installed"),
            (REVERSE.replace("Turns text", r"Turns \0 text"), 4, "NUL character"),
            (REVERSE.replace("Turns text", r"Turns \x1b]52;c;eA== text"), 4, "the invisible character U+001B"),
            (
                REVERSE.replace("The text from", r"\U000E0049\U000E0067 The text from"),
                4,
                "the invisible character U+E0049",
            ),
            (REVERSE.replace('default=""', r'default="\u202e"'), 4, "the invisible character U+202E"),
            (REVERSE.replace('default=""', 'default="a" * 9_000, help="b" * 9_000'), 4, "a help has 9000 characters"),
            (REVERSE.replace('label="Mark"', 'label="b" * 201'), 4, "a label has 201 characters"),
            (REVERSE + "\nraise RuntimeError('at import')\n", 15, "at import"),
        ],
    )
    async def test_says_what_is_wrong_and_in_which_line(
        self, checker: ComponentChecker, code: str, line: int, expected: str
    ) -> None:
        found = await faults(checker, code)
        assert any(expected in one["message"] and one["line"] == line for one in found), found

    async def test_tells_every_fault_that_reading_finds(self, checker: ComponentChecker) -> None:
        code = component("import os\n@output()\ndef to_toolkit(self) -> Text:\n    return os.environ['A'] + eval('1')")
        assert len(await faults(checker, code)) >= 3

    async def test_hints_at_a_name_that_says_what_the_value_is(self, checker: ComponentChecker) -> None:
        code = component("@output()\ndef to_toolkit(self) -> Text:\n    return ''")
        assert any("item, price, result" in one["remedy"] for one in await faults(checker, code))

    @pytest.mark.parametrize(
        ("code", "expected"),
        [
            (component(TEXT_OUTPUT + "'https://api.example.org/v1'"), "Not tried: it requires network access"),
            (
                component("source: File = field()\n" + TEXT_OUTPUT + "''", "from headgate.sdk import File\n"),
                "Not tried: it uses files",
            ),
            (
                component("text: str = field()\n" + TEXT_OUTPUT + "str(json.loads(self.text))", "import json\n"),
                "The trial run with sample values failed",
            ),
        ],
    )
    async def test_passes_what_a_sample_cannot_try(self, checker: ComponentChecker, code: str, expected: str) -> None:
        made = await checker.check("tenant", code)
        assert made.note.startswith(expected), made.note

    async def test_gives_every_kind_of_field_a_sample(self, checker: ComponentChecker) -> None:
        code = component(
            "a: str = field()\nb: int = field()\nc: float = field()\nd: bool = field()\ne: Table = field()\n"
            "f: Message = field()\ng: Data | str = field()\nh: Literal['x', 'y'] = field()\n"
            "i: list[Message] = field(many=True)\n"
            "@output()\ndef kinds(self) -> Data:\n"
            "    return [type(one).__name__ for one in (self.a, self.b, self.c, self.d, self.e, self.f, self.i)]",
            "from typing import Literal\n",
        )
        assert (await checker.check("tenant", code)).note == ""

    async def test_knows_from_the_code_that_it_reads_the_runs_input(self, checker: ComponentChecker) -> None:
        made = await checker.check("tenant", component(TEXT_OUTPUT + "self.ctx.input.text"))
        assert made.template.reads_input

    async def test_does_not_wait_for_code_that_never_ends(self, pool: SandboxPool) -> None:
        code = component("@output()\ndef said(self) -> Text:\n    while True:\n        pass")
        impatient = ComponentChecker(pool, Registry(()), seconds=0.5)
        assert "took longer than" in (await faults(impatient, code))[0]["message"]
