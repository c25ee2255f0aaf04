import logging
from typing import Any

import pytest
from structlog.testing import capture_logs

from headgate.foundation.log import configure, get_logger
from headgate.foundation.outages import Outage, Repeats
from headgate.foundation.settings import LogSettings


@pytest.fixture(autouse=True)
def talkative() -> None:
    """Other tests may have silenced the log."""
    configure(LogSettings(level="info"))


class TestOutage:
    def test_logs_one_line_at_its_start_and_one_at_its_end(self) -> None:
        with capture_logs() as lines:
            broker = Outage(get_logger("test"), "broker")
            broker.answered()
            for _ in range(12_900):
                broker.failed(ConnectionRefusedError("connection refused"))
            broker.answered()
            broker.answered()
        assert [line["event"] for line in lines] == ["broker is unavailable", "broker is available again"]
        assert lines[0]["problem"] == "connection refused"
        assert lines[1]["failed_calls"] == 12_900

    def test_logs_the_next_outage_again(self) -> None:
        with capture_logs() as lines:
            broker = Outage(get_logger("test"), "broker")
            for _ in range(2):
                broker.failed("away")
                broker.answered()
        assert [line["event"] for line in lines] == ["broker is unavailable", "broker is available again"] * 2


def record(text: str, *values: object, error: Exception | None = None) -> logging.LogRecord:
    info: Any = None if error is None else (type(error), error, None)
    return logging.LogRecord("celery", logging.ERROR, __file__, 1, text, values, info)


class TestRepeats:
    def test_omits_and_counts_repeated_records(self) -> None:
        moment = [0.0]
        repeats = Repeats(seconds=60, now=lambda: moment[0])
        assert repeats.filter(record("Cannot connect. Trying again in %s seconds", 2))
        assert not any(repeats.filter(record("Cannot connect. Trying again in %s seconds", n)) for n in range(100))
        assert repeats.filter(record("another line"))
        moment[0] = 61.0
        later = record("Cannot connect. Trying again in %s seconds", 32)
        assert repeats.filter(later)
        assert later.getMessage() == "Cannot connect. Trying again in 32 seconds (100 similar records omitted)"

    def test_logs_a_message_of_several_lines_as_one(self) -> None:
        lines = record("Cannot connect.\n%s\n", "Trying again in 2 seconds ... 100% sure")
        assert Repeats().filter(lines)
        assert lines.getMessage() == "Cannot connect. Trying again in 2 seconds ... 100% sure"

    def test_logs_a_lost_connection_without_the_stack_in_the_message(self) -> None:
        lost = record("Message Error: %s\n%s", "refused", ["  File x\n"], error=ConnectionResetError("away"))
        assert Repeats().filter(lost)
        assert lost.getMessage() == "Message Error: refused"

    def test_logs_a_lost_connection_without_a_trace_and_a_fault_with_it(self) -> None:
        lost, fault = record("lost", error=ConnectionResetError("away")), record("fault", error=ValueError("wrong"))
        repeats = Repeats()
        assert repeats.filter(lost)
        assert repeats.filter(fault)
        assert lost.exc_info is None
        assert fault.exc_info is not None
