"""Contracts along edges of every output, not of the main one alone."""

from headgate.components import BUILTINS
from headgate.features.catalog.registry import Registry
from headgate.graph.issues import IssueCode
from headgate.graph.spec import read_spec
from headgate.graph.validate import check_runnable

REGISTRY = Registry(BUILTINS)
ASK = """name: Contracts
nodes:
  ask: AIStep
    prompt: Answer.
    model: openai/gpt-5-mini
    policy:
      output_type: json
      output_contract: {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
  pick: SelectData
    expression: a
    policy:
      input_contract: {"type": "object", "required": ["%s"]}
edges:
  ask.%s -> pick.data
"""
TEXT = """name: Contracts
nodes:
  heard: ChatInput
  out: ChatOutput
    policy:
      input_contract: {"type": "%s"}
edges:
  heard.text -> out.input
"""


def gaps(spec: str) -> list[str]:
    found = check_runnable(read_spec(spec, REGISTRY), REGISTRY)
    return [issue.message for issue in found if issue.code is IssueCode.INCOMPATIBLE]


class TestContracts:
    def test_of_the_answer_hold_for_its_data_too(self) -> None:
        assert gaps(ASK % ("a", "data")) == []
        assert len(gaps(ASK % ("b", "data"))) == 1

    def test_that_want_a_file_take_no_text(self) -> None:
        assert gaps(TEXT % "text") == []
        assert len(gaps(TEXT % "file")) == 1
