"""The code in a model's answer."""

import pytest

from headgate.agents.assistant.generation.extraction import class_name_of, defines_component, extract_component_code

CODE = '''from headgate.sdk import Component, Text, field, output


class Shout(Component):
    """Shouts."""

    text: str = field(main=True)

    @output()
    def shout_text(self) -> Text:
        """Louder."""
        return self.text.upper()
'''
IMPORTS = "import os\n\nprint(os.name)\n"


def fenced(code: str, tag: str = "python", fence: str = "```") -> str:
    return f"{fence}{tag}\n{code}{fence}\n"


class TestExtractComponentCode:
    @pytest.mark.parametrize("tag", ["python", "py", "Python3", "", "python title=shout.py", "text"])
    def test_takes_it_out_of_a_block_with_any_tag(self, tag: str) -> None:
        assert extract_component_code(f"Here it is:\n\n{fenced(CODE, tag)}\nEnjoy!") == CODE

    @pytest.mark.parametrize("fence", ["````", "~~~"])
    def test_knows_other_fences(self, fence: str) -> None:
        inner = CODE.replace("Shouts.", "Shouts.\n\n    ```\n    a\n    ```\n    ")
        assert extract_component_code(fenced(inner, fence=fence)) == inner

    def test_reads_windows_line_ends(self) -> None:
        assert extract_component_code(fenced(CODE).replace("\n", "\r\n")) == CODE

    def test_chooses_the_block_that_defines_a_component(self) -> None:
        answer = ("Install:\n", fenced("pip install x\n", "bash"), "Use:\n", fenced(IMPORTS), "Code:\n", fenced(CODE))
        assert extract_component_code("".join(answer)) == CODE

    def test_chooses_the_first_of_several_components(self) -> None:
        other = CODE.replace("Shout", "Whisper")
        assert extract_component_code(fenced(CODE) + "Or simpler:\n" + fenced(other)) == CODE

    def test_takes_no_draft_from_what_a_model_thinks_aloud(self) -> None:
        draft = fenced(CODE.replace("Shout", "Draft"))
        assert extract_component_code(f"<think>Maybe so:\n{draft}No.</think>\n{fenced(CODE)}") == CODE
        assert extract_component_code(f"<think>Maybe so:\n{draft}</think>\nI cannot.") is None

    def test_keeps_code_that_is_about_such_marks(self) -> None:
        code = CODE.replace("self.text.upper()", 'self.text.split("</think>")[-1]')
        assert extract_component_code(fenced(code)) == code

    def test_prefers_a_component_that_can_be_read(self) -> None:
        assert extract_component_code(fenced(CODE.replace("(self)", "(self")) + fenced(CODE)) == CODE

    def test_takes_a_block_that_a_cut_stream_left_open(self) -> None:
        cut = CODE[:-20]
        assert extract_component_code(f"Sure:\n```python\n{cut}") == cut + "\n"

    def test_gives_broken_code_for_the_check_to_tell_what_is_wrong(self) -> None:
        broken = CODE.replace("(self)", "(self")
        assert extract_component_code(fenced(broken)) == broken

    def test_gives_code_without_a_component_for_the_check_to_say_so(self) -> None:
        assert extract_component_code(fenced(IMPORTS)) == IMPORTS

    @pytest.mark.parametrize("tag", ["bash", "json"])
    def test_gives_nothing_for_blocks_of_other_languages(self, tag: str) -> None:
        assert extract_component_code(fenced("ls\n", tag)) is None

    def test_finds_code_without_any_fence(self) -> None:
        assert extract_component_code(f"Here is the component:\n\n{CODE}\nIt shouts what it is given.\n") == CODE
        assert extract_component_code(CODE) == CODE

    @pytest.mark.parametrize(
        "answer",
        ["", "```", "A Component has inputs and outputs.", "class X is what you need: Component.", "```python\n\n```"],
    )
    def test_gives_nothing_for_words(self, answer: str) -> None:
        assert extract_component_code(answer) is None

    def test_is_quick_with_hostile_answers(self) -> None:
        for answer in ("`" * 300_000, "```\n" * 100_000, "class A(" * 50_000, "class A(Component):\n" * 20_000):
            extract_component_code(answer)


class TestDefinesComponent:
    def test_sees_through_modules_and_aliases_of_them(self) -> None:
        assert defines_component("import headgate.sdk as s\nclass A(s.Component): ...\n")

    @pytest.mark.parametrize("code", ["class A: ...", "class A(Base): ...", "Component()", "class A(Component:"])
    def test_is_not_taken_in(self, code: str) -> None:
        assert not defines_component(code)


class TestClassNameOf:
    def test_reads_broken_code_too(self) -> None:
        assert class_name_of(CODE) == "Shout"
        assert class_name_of("class Half(Component):\n    def x(") == "Half"
        assert class_name_of("x = 1") == ""
