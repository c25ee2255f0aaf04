import json
import types
from typing import Any

import pytest

from headgate.sandbox.guest.calls import answer

LIMIT = 10_000


def ask(code: str, arguments: dict[str, Any] | None = None, function: str = "run") -> dict[str, Any]:
    """One first call, in this process: the code is ours."""
    request = {"id": 7, "code": code, "function": function, "arguments": arguments or {}}
    result: dict[str, Any] = json.loads(answer(types.ModuleType("node_code"), request, LIMIT))
    assert result.pop("id") == 7
    return result


def fail(code: str) -> dict[str, Any]:
    failure: dict[str, Any] = ask(code)["failure"]
    return failure


class TestAnswer:
    def test_calls_the_function_with_its_arguments(self) -> None:
        assert ask("def run(a, b): return [a, b]", {"a": 1, "b": "å"}) == {"value": [1, "å"]}

    def test_awaits_what_is_asynchronous(self) -> None:
        code = "import asyncio\nasync def run():\n    await asyncio.sleep(0)\n    return 'done'"
        assert ask(code) == {"value": "done"}

    def test_ends_what_a_call_leaves_running(self) -> None:
        code = """
import asyncio
ended = []
async def left():
    try:
        await asyncio.sleep(60)
    finally:
        ended.append(True)
async def run():
    asyncio.create_task(left())
    await asyncio.sleep(0)
    return len(ended)
"""
        module = types.ModuleType("node_code")
        requests: list[dict[str, Any]] = [{"id": 1, "code": code}, {"id": 2}]
        asked = [answer(module, {"function": "run", "arguments": {}} | request, LIMIT) for request in requests]
        assert [json.loads(frame)["value"] for frame in asked] == [0, 1]

    def test_keeps_the_event_loop_for_the_next_call(self) -> None:
        code = "import asyncio\nasync def run(): return id(asyncio.get_running_loop())"
        module = types.ModuleType("node_code")
        requests: list[dict[str, Any]] = [{"id": 1, "code": code}, {"id": 2}]
        asked = [answer(module, {"function": "run", "arguments": {}} | request, LIMIT) for request in requests]
        assert len({json.loads(frame)["value"] for frame in asked}) == 1

    def test_keeps_the_code_for_later_calls(self) -> None:
        module = types.ModuleType("node_code")
        first = {"id": 1, "code": "count = 0\ndef run():\n    global count\n    count += 1\n    return count"}
        requests: list[dict[str, Any]] = [first, {"id": 2}, {"id": 3}]
        asked = [answer(module, {"function": "run", "arguments": {}} | request, LIMIT) for request in requests]
        assert [json.loads(frame) for frame in asked] == [{"id": n, "value": n} for n in (1, 2, 3)]

    def test_says_which_function_is_missing(self) -> None:
        assert fail("x = 1")["message"] == "the code defines no function 'run'"

    def test_names_the_users_own_lines(self) -> None:
        failure = fail("def run():\n    return inner()\ndef inner():\n    return [][1]\n")
        assert failure == {
            "exception": "IndexError",
            "message": "list index out of range",
            "line": 4,
            "frames": [[2, "run"], [4, "inner"]],
        }

    def test_cuts_frames_of_libraries(self) -> None:
        failure = fail("import json\ndef run():\n    return json.loads('{')\n")
        assert (failure["exception"], failure["line"], failure["frames"]) == ("JSONDecodeError", 3, [[3, "run"]])

    def test_names_the_line_of_a_syntax_error(self) -> None:
        failure = fail("def run():\n    pass\nreturn 1\n")
        assert (failure["exception"], failure["line"]) == ("SyntaxError", 3)

    def test_names_the_function_when_the_arguments_do_not_fit(self) -> None:
        failure = ask("\ndef run(data): return data", {"inputs": 1})["failure"]
        assert failure["line"] == 2
        assert "unexpected keyword argument 'inputs'" in failure["message"]

    @pytest.mark.parametrize("code", ["def run(): raise SystemExit(3)", "def run(): raise KeyboardInterrupt"])
    def test_survives_attempts_to_leave(self, code: str) -> None:
        assert fail(code)["exception"] in {"SystemExit", "KeyboardInterrupt"}

    def test_survives_an_exception_that_cannot_be_printed(self) -> None:
        code = "class Bad(Exception):\n    def __str__(self): raise ValueError\ndef run(): raise Bad"
        assert fail(code)["exception"] == "Bad"

    def test_cuts_long_messages(self) -> None:
        assert len(fail("def run(): raise ValueError('x' * 100_000)")["message"]) == 2000

    @pytest.mark.parametrize(
        ("expression", "words"),
        [
            ("{1, 2}", "set is not JSON"),
            ("float('nan')", "not JSON"),
            ("'\\ud800'", "not valid Unicode"),
            ("10 ** 30", "beyond 64 bits"),
            ("{'a': [1, -2 ** 63 - 1]}", "beyond 64 bits"),
            ("(lambda x: x.append(x) or x)([])", "not JSON"),
            ("__import__('functools').reduce(lambda x, _: [x], range(100_000))", "nested too deeply"),
            ("b'bytes'", "bytes is not JSON"),
        ],
    )
    def test_says_why_a_result_cannot_be_sent(self, expression: str, words: str) -> None:
        failure = fail(f"def run(): return {expression}")
        assert failure["exception"] == ""
        assert words in failure["message"]

    @pytest.mark.parametrize("value", [2**63 - 1, -(2**63), 2**64 - 1, "1234567890123456789012", 0.1, None, [], {}])
    def test_sends_what_json_can_hold(self, value: object) -> None:
        assert ask(f"def run(): return {value!r}") == {"value": value}

    def test_refuses_a_result_over_the_limit_with_its_size(self) -> None:
        assert ask("def run(): return 'x' * 20_000") == {"too_big": 20_002}
