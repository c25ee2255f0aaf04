import orjson

from headgate.features.runs.steps.recorder import LONGEST_TEXT, MOST_ENTRIES, Recorder
from headgate.sdk import Model

MODEL = Model(provider="openai", name="gpt", params={"temperature": 0.2, "api_key": "sk-aaaaaaaaaaaaaaaa"})


class TestRecorder:
    def test_leaves_nothing_but_the_output_when_nothing_happened(self) -> None:
        record = Recorder().as_record("{}", "hash")
        assert record.bare
        assert (record.output_payload, record.execution_hash) == ("{}", "hash")

    def test_adds_tokens_up_and_keeps_unknown_counts_unknown(self) -> None:
        recorder = Recorder()
        recorder.usage(MODEL, 3, None)
        recorder.usage(MODEL, 4, None)
        record = recorder.as_record()
        assert (record.tokens_input, record.tokens_output, recorder.model_calls) == (7, None, 2)

    def test_keeps_each_model_once_and_no_key(self) -> None:
        recorder = Recorder()
        recorder.usage(MODEL, 1, 1)
        recorder.usage(MODEL, 1, 1)
        parameters = orjson.loads(recorder.as_record().model_parameters or "")
        assert parameters == {"provider": "openai", "name": "gpt", "temperature": 0.2, "api_key": "[redacted]"}
        recorder.usage(Model(provider="x", name="y"), 1, 1)
        assert len(orjson.loads(recorder.as_record().model_parameters or "")["models"]) == 2

    def test_keeps_prompts_apart(self) -> None:
        recorder = Recorder()
        recorder.prompt("one")
        recorder.prompt("two\x00")
        assert recorder.as_record().effective_prompt == "one\n\n--- next call ---\n\ntwo\ufffd"

    def test_cuts_what_is_too_long(self) -> None:
        recorder = Recorder()
        recorder.prompt("x" * (LONGEST_TEXT + 5))
        recorder.tool_call("t", {}, "y" * (LONGEST_TEXT * 2))
        record = recorder.as_record()
        assert (record.effective_prompt or "").endswith(f"[{LONGEST_TEXT + 5} characters in all]")
        assert len(record.tool_calls or "") < LONGEST_TEXT + 200

    def test_keeps_server_time_and_error_of_a_tool_call(self) -> None:
        recorder = Recorder()
        recorder.tool_call(
            "weather.a.b", {"key": "sk-aaaaaaaaaaaaaaaa"}, server="weather", error="No: " + "x" * 99_999, ms=1.5
        )
        (call,) = orjson.loads(recorder.as_record().tool_calls or "")
        assert len(call.pop("error")) < LONGEST_TEXT + 100
        assert call == {
            "name": "weather.a.b",
            "server": "weather",
            "tool": "a.b",
            "arguments": {"key": "[redacted]"},
            "ms": 1.5,
        }

    def test_counts_log_lines_it_left_out(self) -> None:
        recorder = Recorder()
        for number in range(MOST_ENTRIES + 3):
            recorder.line(f"line {number}", {}, number)
        log = orjson.loads(recorder.as_record().log or "")
        assert len(log) == MOST_ENTRIES + 1
        assert log[-1] == {"message": "3 more lines"}

    def test_keeps_values_that_are_no_json_as_text(self) -> None:
        recorder = Recorder()
        recorder.tool_call("t", {"n": float("nan")}, 10**30)
        (call,) = orjson.loads(recorder.as_record().tool_calls or "")
        assert call == {"name": "t", "arguments": "{'n': nan}", "result": str(10**30)}

    def test_shows_no_secret_in_a_line(self) -> None:
        line = Recorder().line("called with Bearer abcdefghijkl", {"password": "hunter2"}, 1)
        assert "abcdefghijkl" not in str(line)
        assert "hunter2" not in str(line)
