"""What a test of a flow gives, in a terminal's words."""

from headgate.entrypoints.cli.expected import given
from headgate.graph.cases import TestCase


class TestGiven:
    def test_names_the_text_the_answers_and_how_many_files(self) -> None:
        assert given(TestCase(name="a", text="hej", form={"who": "Ada"}, file_ids=["x", "y"])) == "hej who=Ada 2 files"
        assert given(TestCase(name="a", file_ids=["x"])) == "1 file"
        assert given(TestCase(name="a", text="hej")) == "hej"
