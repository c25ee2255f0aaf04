"""A wrong setting stops `headgate serve` as it is started: with its name, before anything is made."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

WRONG = {
    "HEADGATE_MODELS__STEP": ("gpt-5", "write the model as provider/name"),
    "HEADGATE_MODELS__STEP_PARAMS__TEMPERATURE": ("hot", "valid number"),
    "HEADGATE_MODELS__FALLBACK": ("openai/gpt-5-mini", "not JSON"),
    "HEADGATE_SERVER__PORT": ("seven", "valid integer"),
}


class TestServe:
    @pytest.mark.parametrize("from_file", [False, True])
    @pytest.mark.parametrize("name", WRONG)
    def test_stops_and_names_the_setting(self, name: str, from_file: bool, tmp_path: Path) -> None:
        value, reason = WRONG[name]
        environment = {key: other for key, other in os.environ.items() if key != name}
        environment["HEADGATE_DATA_DIR"] = str(tmp_path / "data")
        if from_file:
            (tmp_path / ".env").write_text(f"{name}={value}\n")
        else:
            environment[name] = value
        command = [sys.executable, "-m", "headgate", "serve", "--port", "0"]
        ended = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert ended.returncode == 3
        words = " ".join(ended.stderr.split())
        assert f"Error: {name}: " in words
        assert reason in words
        assert not (tmp_path / "data").exists()
