import json

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.foundation.errors import HeadgateError
from headgate.sandbox.errors import CodeFailed, CodeTooBig
from headgate.sandbox.limits import Limits
from headgate.sandbox.workers.answers import ProtocolBroken, ended, read_answer

CODE = "def run(inputs):\n    return 1 / 0\n"
LIMITS = Limits(output_containers=1000)

numbers = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
keys = st.sampled_from(["a", "id", "value", "å"])
json_values = st.recursive(
    st.none() | st.booleans() | numbers | st.text('aå𝔘\0"\\ \n', max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
)


def read(frame: bytes, call: int = 1) -> object:
    return read_answer(frame, call, CODE, "run()", LIMITS)


def failure(**members: object) -> bytes:
    return json.dumps({"id": 1, "failure": members}).encode()


class TestReadAnswer:
    @given(value=json_values)
    def test_gives_the_value_as_it_was_sent(self, value: object) -> None:
        frame = json.dumps({"id": 1, "value": value}).encode("utf-8", "surrogatepass")
        try:
            assert read(frame) == orjson.loads(frame)["value"]
        except ProtocolBroken:
            pytest.fail("a proper answer was refused")

    @given(frame=st.binary(max_size=200))
    def test_answers_any_bytes_with_an_error_of_ours(self, frame: bytes) -> None:
        with pytest.raises(HeadgateError):
            read(frame)

    @given(members=st.dictionaries(st.sampled_from(["exception", "message", "line", "frames"]), json_values))
    def test_reads_any_failure_without_failing_itself(self, members: dict[str, object]) -> None:
        with pytest.raises(CodeFailed):
            read(failure(**members))

    @pytest.mark.parametrize(
        "frame",
        [
            b"",
            b"null",
            b"[]",
            b'{"id": 2, "value": 1}',
            b'{"id": 1}',
            b'{"id": 1, "failure": "no"}',
            b'{"id": 1, "value": NaN}',
            b'{"id": 1, "value": 1e999}',
            b'{"id": 1, "value": "\\ud800"}',
            b'{"id": 1, "value": "\xff"}',
            b'{"id": 1, "value": ' + b"[" * 300 + b"]" * 300 + b"}",
        ],
    )
    def test_says_that_the_protocol_is_broken(self, frame: bytes) -> None:
        with pytest.raises(ProtocolBroken, match="run\\(\\) returned an invalid response"):
            read(frame)

    def test_refuses_more_lists_than_memory_likes(self) -> None:
        with pytest.raises(CodeTooBig, match="1000 lists and objects"):
            read(b'{"id": 1, "value": [' + b"[]," * 1000 + b"1]}")

    def test_says_how_large_a_result_was(self) -> None:
        with pytest.raises(CodeTooBig, match="9000000 bytes"):
            read(b'{"id": 1, "too_big": 9000000}')

    def test_names_exception_line_and_source(self) -> None:
        frame = failure(exception="ZeroDivisionError", message="division by zero", line=2, frames=[[2, "run"]])
        with pytest.raises(CodeFailed) as caught:
            read(frame)
        assert caught.value.detail == "run() raised ZeroDivisionError: division by zero (line 2: return 1 / 0)"
        assert caught.value.extra == {
            "exception": "ZeroDivisionError",
            "message": "division by zero",
            "line": 2,
            "frames": [{"line": 2, "function": "run", "source": "return 1 / 0"}],
        }

    def test_keeps_no_character_that_databases_refuse(self) -> None:
        with pytest.raises(CodeFailed) as caught:
            read(failure(exception="ValueError", message="a\0b", line=None))
        assert caught.value.extra["message"] == "a\N{REPLACEMENT CHARACTER}b"

    @pytest.mark.parametrize("line", [0, 3, -1, "2", True, 2.0, None, [2]])
    def test_names_no_line_that_the_code_does_not_have(self, line: object) -> None:
        with pytest.raises(CodeFailed) as caught:
            read(failure(exception="ValueError", message="", line=line))
        assert caught.value.extra["line"] is None

    def test_cuts_what_is_endless(self) -> None:
        frames = [[1, "f" * 9000]] * 500
        with pytest.raises(CodeFailed) as caught:
            read(failure(exception="E" * 9000, message="m" * 9000, line=1, frames=frames))
        assert len(json.dumps(caught.value.problem())) < 30_000

    @pytest.mark.parametrize(
        ("exception", "remedy"),
        [("MemoryError", "limits memory"), ("PermissionError", "no network"), ("ModuleNotFoundError", "operator")],
    )
    def test_says_what_to_do_about_what_the_sandbox_causes(self, exception: str, remedy: str) -> None:
        with pytest.raises(CodeFailed) as caught:
            read(failure(exception=exception, message="", line=None))
        assert remedy in caught.value.remedy


class TestEnded:
    @pytest.mark.parametrize(
        ("status", "words"),
        [(None, "its process ended"), (3, "status 3"), (-11, "signal 11"), (-9, "memory"), (-5, "signal 5")],
    )
    def test_says_how_the_process_ended(self, status: int | None, words: str) -> None:
        assert words in ended("run()", status).detail
