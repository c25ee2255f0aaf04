"""Abuse of the worker's own socket, and results made to hurt whoever reads them."""

from typing import Final

from headgate.sandbox.errors import CodeFailed, CodeTimedOut, CodeTooBig
from headgate.sandbox.workers.answers import ProtocolBroken
from tests.integration.sandbox.attacks.attack import Attack

_FIND_SOCKET = """
import stat
def own_socket():
    for descriptor in range(3, 64):
        try:
            if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                return descriptor
        except OSError:
            pass

def frame(payload):
    return len(payload).to_bytes(4, "big") + payload
"""


def _with_socket(body: str) -> str:
    return f"{_FIND_SOCKET}\ndef run(inputs):\n    {body}\n"


PROTOCOL: Final = (
    Attack("close the socket", _with_socket("os.close(own_socket())"), CodeFailed, "no response"),
    Attack("replace the socket", _with_socket("os.dup2(0, own_socket())"), CodeFailed, "no response"),
    Attack(
        "shut the socket down",
        _with_socket("import socket; socket.socket(fileno=own_socket()).shutdown(2)"),
        CodeFailed,
        "no response",
    ),
    Attack("write garbage", _with_socket("os.write(own_socket(), b'\\xff' * 1000)"), CodeTooBig, "limit"),
    Attack(
        "announce four gigabytes", _with_socket("os.write(own_socket(), b'\\xff\\xff\\xff\\xff')"), CodeTooBig, "limit"
    ),
    Attack(
        "announce more than is sent",
        _with_socket("os.write(own_socket(), b'\\0\\0\\xff\\xff'); time.sleep(60)"),
        CodeTimedOut,
        timeout_seconds=0.5,
    ),
    Attack(
        "send what is not JSON", _with_socket("os.write(own_socket(), frame(b'\\x80\\x04.'))"), ProtocolBroken, "JSON"
    ),
    Attack(
        "answer another call",
        _with_socket('os.write(own_socket(), frame(b\'{"id": 99, "value": 1}\'))'),
        ProtocolBroken,
        "does not belong to this call",
    ),
    Attack("send an empty frame", _with_socket("os.write(own_socket(), frame(b''))"), ProtocolBroken),
    Attack(
        "send endless nesting",
        _with_socket("os.write(own_socket(), frame(b'[' * 100_000))"),
        ProtocolBroken,
    ),
    Attack(
        "send a failure that is none",
        _with_socket('os.write(own_socket(), frame(b\'{"id": 1, "failure": {"line": [[]], "frames": [[1e9, {}]]}}\'))'),
        CodeFailed,
    ),
    Attack(
        "return a nesting bomb",
        "def run(inputs):\n    x = []\n    for _ in range(5000): x = [x]\n    return x",
        CodeFailed,
    ),
    Attack(
        "return nesting that only writers mind",
        "def run(inputs):\n    x = []\n    for _ in range(600): x = [x]\n    return x",
        ProtocolBroken,
        "Recursion",
    ),
    Attack("return a million lists", "def run(inputs): return [[]] * 1_000_000", CodeTooBig, "lists and objects"),
    Attack("return not a number", "def run(inputs): return float('nan')", CodeFailed, "not JSON"),
    Attack("return infinity", "def run(inputs): return [float('inf')]", CodeFailed, "not JSON"),
    Attack("return half a character", "def run(inputs): return '\\ud800'", CodeFailed, "Unicode"),
    Attack("return a huge integer", "def run(inputs): return 10 ** 4000", CodeFailed, "64 bits"),
    Attack("return a cycle", "def run(inputs):\n    x = []\n    x.append(x)\n    return x", CodeFailed),
    Attack("return an object", "def run(inputs): return object()", CodeFailed, "not JSON"),
    Attack("print without end", "def run(inputs):\n    print('x' * 50_000_000)\n    return 'contained'"),
    Attack(
        "replace the encoder",
        "import json\ndef run(inputs):\n    json.dumps = lambda *a, **k: 'not json'\n    return 1",
        CodeFailed,
    ),
    Attack(
        "replace what the worker needs",
        "import builtins\ndef run(inputs):\n    builtins.len = lambda thing: -1\n    return 1",
        CodeFailed,
    ),
    Attack(
        "raise with a trap in its text",
        "def run(inputs):\n    class Trap(Exception):\n        def __str__(self): os._exit(0)\n    raise Trap",
        CodeFailed,
        "status 0",
    ),
)
