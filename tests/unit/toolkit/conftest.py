"""A workbench over a handful of components."""

import pytest
from pydantic import SecretStr

from headgate.features.access.principal import LOCAL
from headgate.features.catalog.own.overlay import Overlay
from headgate.features.catalog.registry import Registry
from headgate.features.catalog.search import component_index
from headgate.graph.model import Flow
from headgate.sdk import Component, Model, Table, Text, Tool, field, output
from headgate.toolkit.workbench import Workbench


class Shout(Component):
    """Write a text in capital letters."""

    text: Text = field(help="What to shout.", main=True, tool_mode=True)
    key: SecretStr | None = field(default=None, help="A key.")

    @output()
    def loud(self) -> Text:
        return self.text.upper()


class Source(Component):
    """Give a text."""

    text: Text = field(default="hello", help="The text.")

    @output()
    def said(self) -> Text:
        return self.text


class Rows(Component):
    """Give a table."""

    @output()
    def rows(self) -> Table:
        return Table(columns=["a"])


class Thinker(Component):
    """Ask a model that may use tools."""

    model: Model | None = field(default=None, help="The model.")
    tools: list[Tool] = field(default_factory=list, many=True, help="Its tools.")
    question: Text = field(help="The question.", main=True)

    @output()
    def answer(self) -> Text:
        return self.question


@pytest.fixture
def registry() -> Registry:
    return Registry([Shout, Source, Rows, Thinker])


@pytest.fixture
def bench(registry: Registry) -> Workbench:
    overlay = Overlay(registry, component_index(registry))
    return Workbench(principal=LOCAL, space_id=LOCAL.space_id, flow=Flow(), registry=overlay)
