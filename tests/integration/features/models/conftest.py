"""A folder of models and a server whose process is a stand-in."""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from headgate.features.models.local.server import LocalModelServer
from tests.integration.features.models.test_providers import ToollessServer
from tests.support import fake_model_process

FAKE = (sys.executable, fake_model_process.__file__)


@dataclass
class Shop:
    """A folder of models, the server that runs them, and what its processes were told."""

    folder: Path
    server: LocalModelServer
    log: Path

    def model(self, name: str) -> Path:
        path = self.folder / f"{name}.gguf"
        path.write_bytes(b"GGUF" + b"\0" * 2000)
        return path

    @property
    def started(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []


@pytest.fixture
def answers() -> Iterator[ToollessServer]:
    with ToollessServer() as running:
        yield running


@pytest.fixture
def shop(tmp_path: Path, answers: ToollessServer) -> Iterator[Shop]:
    log = tmp_path / "log"
    server = LocalModelServer(command=(*FAKE, answers.origin, str(log)))
    yield Shop(tmp_path, server, log)
    server.close()
