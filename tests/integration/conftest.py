"""Fixtures of tests that run several parts of the product together."""

from collections.abc import Iterator

import pytest

from tests.support.openai_server import OpenAIServer


@pytest.fixture
def openai() -> Iterator[OpenAIServer]:
    """A server with the API of OpenAI that answers as scripted."""
    with OpenAIServer() as server:
        yield server
