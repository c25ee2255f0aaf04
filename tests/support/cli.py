"""Commands as a terminal gives them, in this process."""

import json
from typing import Any

import pytest

from headgate.entrypoints.cli.app import run


def answered(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> Any:
    """The JSON that a command answers with."""
    capsys.readouterr()
    assert run([*arguments, "--json"]) == code, capsys.readouterr()
    return json.loads(capsys.readouterr().out)
