"""Values of file fields."""

import pytest
from pydantic import JsonValue

from headgate.components import BUILTINS
from headgate.features.catalog.registry import Registry
from headgate.graph.check_params import param_issues
from headgate.graph.issues import Issue
from headgate.graph.model import Node

FILE: JsonValue = {"id": "0190", "name": "letter.pdf"}


def issues(value: JsonValue) -> list[Issue]:
    """What the check finds of a ReadFile with this in its file field."""
    template = Registry(BUILTINS).template("ReadFile")
    assert template is not None
    return list(param_issues(Node(id="read", type="ReadFile", params={"file": value}), template))


class TestFileField:
    @pytest.mark.parametrize("value", ["reports/letter.pdf", 7, {"path": "letter.pdf"}, [FILE, "other.pdf"]])
    def test_refuses_what_is_no_file(self, value: JsonValue) -> None:
        (issue,) = issues(value)
        assert "takes a value from an edge, or a file as an object with id and name" in issue.message

    @pytest.mark.parametrize("value", [None, "", "{{file.file}}", FILE, [FILE]])
    def test_takes_a_file_or_a_reference(self, value: JsonValue) -> None:
        assert not issues(value)
