import subprocess
import sys
from pathlib import Path

import headgate

LIST_LOADED = """
import sys
sys.path.insert(0, sys.argv[1])
import headgate.sandbox.guest.zygote
print(*(name for name in sys.modules if name.partition(".")[0] not in sys.stdlib_module_names))
"""


class TestZygoteModule:
    def test_needs_the_standard_library_only_and_nothing_else_of_headgate(self) -> None:
        source = str(Path(headgate.__file__).parents[1])
        command = [sys.executable, "-I", "-S", "-c", LIST_LOADED, source]
        result = subprocess.run(command, env={}, capture_output=True, text=True, check=True)
        loaded = set(result.stdout.split()) - {"__main__", "headgate", "headgate.sandbox"}
        assert {name for name in loaded if not name.startswith("headgate.sandbox.guest")} == set()
        assert "headgate.sandbox.guest.worker" in loaded
