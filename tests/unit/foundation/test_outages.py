from structlog.testing import capture_logs

from headgate.foundation.log import get_logger
from headgate.foundation.outages import Outage


class TestOutage:
    def test_logs_one_line_when_a_part_goes_away_and_one_when_it_is_back(self) -> None:
        with capture_logs() as lines:
            broker = Outage(get_logger("test"), "broker")
            broker.answered()
            for _ in range(12_900):
                broker.failed(ConnectionRefusedError("no one listens"))
            broker.answered()
            broker.answered()
        assert [line["event"] for line in lines] == ["broker is away", "broker is back"]
        assert lines[0]["problem"] == "no one listens"
        assert lines[1]["failed_calls"] == 12_900

    def test_logs_the_next_outage_again(self) -> None:
        with capture_logs() as lines:
            broker = Outage(get_logger("test"), "broker")
            for _ in range(2):
                broker.failed("away")
                broker.answered()
        assert [line["event"] for line in lines] == ["broker is away", "broker is back"] * 2
