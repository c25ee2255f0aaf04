"""Texts of anybody in a report: read as they are, never as markup."""

import re
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.features.runs.report.markdown import LONGEST_BLOCK, block, plain, table
from headgate.features.runs.report.words import ENGLISH, SWEDISH

_PANDOC = find_spec("pypandoc")
SIGNS = st.text(alphabet=st.sampled_from("ab *_`[]()<>!#|\\$~:{}-+=1.&\n\t\x00"), max_size=40)


def test_both_languages_say_the_same_things_with_the_same_values() -> None:
    assert SWEDISH.keys() == ENGLISH.keys()
    for name, text in ENGLISH.items():
        assert re.findall(r"\{\w+\}", SWEDISH[name]) == re.findall(r"\{\w+\}", text)


@given(text=st.text())
def test_a_text_in_a_cell_stays_in_its_line(text: str) -> None:
    assert "\n" not in plain(text)
    assert len(table(["a"], [[plain(text)]]).split("\n")) == 3


@given(text=st.text(alphabet="`a\n"))
def test_no_text_ends_its_block(text: str) -> None:
    lines = block(text, cut_off="cut").split("\n")
    fence = lines[0]
    assert set(fence) == {"`"}
    assert lines[-1] == fence
    assert all(fence not in line for line in lines[1:-1])


def test_a_long_text_is_cut_and_says_so() -> None:
    found = block("x " * LONGEST_BLOCK, cut_off="There is more.")
    assert found.endswith("*There is more\\.*")
    assert len(found) < LONGEST_BLOCK * 1.1


def test_a_long_word_is_broken() -> None:
    assert max(map(len, block("y" * 500, cut_off="").split()[1:-1])) < 100


@pytest.mark.skipif(_PANDOC is None, reason="the documents extra is not installed")
@settings(max_examples=12, deadline=None)
@given(texts=st.lists(SIGNS, min_size=20, max_size=20))
def test_markdown_reads_every_sign_as_itself(texts: list[str]) -> None:
    assert _PANDOC is not None
    assert _PANDOC.origin is not None
    program = Path(_PANDOC.origin).parent / "files" / "pandoc"
    wanted = [" ".join(text.replace("\x00", " ").split()) for text in texts]
    markdown = "\n\n".join(f"x{plain(text)}x" for text in texts)
    done = subprocess.run(
        [program, "-f", "gfm", "-t", "plain", "--wrap=none"], input=markdown, capture_output=True, text=True, check=True
    )
    assert done.stdout.split("\n\n") == [*(f"x{text}x" for text in wanted[:-1]), f"x{wanted[-1]}x\n"]
