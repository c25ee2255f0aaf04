import base64
import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from headgate.foundation.log import configure, get_logger, redact, redact_text
from headgate.foundation.secret_values import REDACTED
from headgate.foundation.settings import LogSettings

KEYS = st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-", min_size=16, max_size=60)
NAMES = st.sampled_from(
    ["api_key", "API-Key", "openai_api_key", "apiKey", "token", "access_token", "client_secret", "password",
     "passwords", "authorization", "Authorization", "set-cookie", "cookie", "x-api-key", "credentials", "secret"]
)  # fmt: skip


class Written:
    """What was written to standard error so far."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture = capture
        self._text = ""

    def getvalue(self) -> str:
        self._text += self._capture.readouterr().err
        return self._text


@pytest.fixture
def written(capsys: pytest.CaptureFixture[str]) -> Iterator[Written]:
    """What the logs say, as JSON lines."""
    root = logging.getLogger()
    handlers = root.handlers[:]
    configure(LogSettings(format="json", level="info"))
    yield Written(capsys)
    root.handlers[:] = handlers
    structlog.reset_defaults()


class TestRedact:
    @given(name=NAMES, value=KEYS)
    def test_hides_what_is_called_a_secret(self, name: str, value: str) -> None:
        nested = {"outer": [{name: value}], name: value}
        assert value not in json.dumps(redact(nested))

    @pytest.mark.parametrize(
        "name", ["clientSecret", "accessToken", "secretKey", "AccessKey", "openAIApiKey", "dbPassword", "privatekey"]
    )
    def test_hides_what_is_called_a_secret_in_one_word(self, name: str) -> None:
        assert redact({name: "short"}) == {name: REDACTED}

    @given(value=KEYS)
    def test_hides_secret_values_of_any_name(self, value: str) -> None:
        assert redact({"anything": SecretStr(value)}) == {"anything": REDACTED}

    @given(
        value=KEYS,
        form=st.sampled_from(
            ["Authorization: Bearer {}", "Authorization: Basic {}", "'authorization': 'basic {}'",
             "api_key={}", "apikey: {}", '"token": "{}"', "password = '{}'",
             "sk-{}", "ghp_{}", "github_pat_{}", "AIza{0}{0}", "eyJ{0}.{0}", "whsec_{}",
             "xoxb-{}", "hg_{}", "https://anna:{}@example.org/", "client_secret={}&a=b"]
        ),
    )  # fmt: skip
    def test_hides_what_looks_like_a_secret_in_text(self, value: str, form: str) -> None:
        assert value not in redact_text(f"before {form.format(value)} after")

    @given(name=st.text("abcXYZ0189.@", min_size=2), password=st.text(min_size=3))
    def test_hides_a_name_and_a_password_behind_basic(self, name: str, password: str) -> None:
        encoded = base64.b64encode(f"{name}:{password}".encode()).decode()
        for text in (f"basic {encoded}", f"Sent with Basic {encoded}.", f"BASIC {encoded.rstrip('=')}, then"):
            assert encoded.rstrip("=") not in redact_text(text)

    @pytest.mark.parametrize("token", ["token-3f8a9c7de1", "auth.abcdef12", "credential_1234"])
    def test_hides_tokens_that_begin_as_a_word_does(self, token: str) -> None:
        for text in (
            f"Bearer {token}",
            f'{{"Authorization": "Bearer {token}"}}',
            json.dumps(f'{{"A": "Bearer {token}"}}'),
        ):
            assert token not in redact_text(text)

    def test_hides_a_name_and_a_password_as_they_are_typed(self) -> None:
        assert "secretpass" not in redact_text("basic user:secretpass")

    @pytest.mark.parametrize("text", ["Authorization: Basic xxx", "proxy-authorization=bearer s3", "bearer s3cret-ab"])
    def test_hides_short_ones_where_it_is_clear_what_they_are(self, text: str) -> None:
        assert redact_text(text).endswith(f" {REDACTED}")

    def test_hides_what_follows_a_word_that_is_none(self) -> None:
        assert "hunter22" not in redact_text("basic password=hunter22 and basic api-key: hunter22")

    @pytest.mark.parametrize(
        "text",
        [
            "A basic chatbot. Basic Chatbots (basic understanding), a basic FAQ-bot; BASIC CHATBOT!",
            "A basic ChatOpenAI-agent, basic LangChain, basic JavaScript/TypeScript, basic GPT-4o.",
            "En basic kundtjänstassistent på svenska, basic översättning.",
            "It uses bearer authentication: bearer tokens in the header.",
            "the monkey ate 12 bananas",
            "tokens used: 120 of 4096",
            "https://example.org/a?b=c",
            "step brief finished in 12 ms",
            "key lime pie",
        ],
    )
    def test_leaves_other_text_alone(self, text: str) -> None:
        assert redact_text(text) == text

    @pytest.mark.parametrize("piece", ["a", "aB", "basic ", "basic aaaa", "bearer ", "authorization: basic "])
    def test_is_quick_for_the_longest_texts(self, piece: str) -> None:
        redact_text(f"basic {piece * (200_000 // len(piece))}1")

    def test_leaves_numbers_and_names_alone(self) -> None:
        value = {"monkey": "x", "count": 3, "input_tokens": 5, "keys": ["a"], "none": None, "token": ""}
        value |= {"memoryKey": "m", "maxTokens": 5, "without_key": ["openai"], "primary_key": "id"}
        assert redact(value) == value

    @given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=9))
    def test_never_fails(self, value: object) -> None:
        redact(value)


class TestLogger:
    def test_writes_json_with_level_time_and_module(self, written: Written) -> None:
        get_logger("headgate.test").info("step finished", step="brief", ms=12)
        line = json.loads(written.getvalue())
        assert (line["event"], line["level"], line["module"], line["step"], line["ms"]) == (
            "step finished",
            "info",
            "headgate.test",
            "brief",
            12,
        )
        assert line["timestamp"].endswith("Z")

    def test_redacts_event_values_and_bound_context(self, written: Written) -> None:
        log = get_logger("t").bind(api_key="sk-abcdefghijklmnop")
        log.info(
            "calling with Bearer abcdefghijkl", url="https://u:hunter22@example.org", headers={"Cookie": "a=1234567"}
        )
        text = written.getvalue()
        assert not any(secret in text for secret in ("abcdefghijkl", "hunter22", "1234567"))
        assert text.count(REDACTED) >= 4

    def test_redacts_what_is_no_text_itself(self, written: Written) -> None:
        get_logger("t").info("failed", error=ValueError("api_key=abcdefghijklmnop"), seen={"sk-abcdefghijklmnop"})
        line = json.loads(written.getvalue())
        assert line["error"] == f"ValueError: api_key={REDACTED}"
        assert line["seen"] == [REDACTED]

    def test_redacts_tracebacks(self, written: Written) -> None:
        try:
            raise ValueError("refused api_key=abcdefghijklmnop")  # noqa: TRY301
        except ValueError:
            get_logger("t").exception("failed")
        text = written.getvalue()
        assert "ValueError" in text
        assert "abcdefghijklmnop" not in text

    def test_never_writes_the_values_of_local_variables(self, written: Written) -> None:
        patient = "Anna Andersson"
        try:
            raise ValueError("refused")  # noqa: TRY301
        except ValueError:
            get_logger("t").exception("failed", step="brief")
        text = written.getvalue()
        assert patient not in text
        assert "test_never_writes_the_values_of_local_variables" in text

    def test_leaves_lower_levels_out(self, written: Written) -> None:
        get_logger("t").debug("quiet")
        assert written.getvalue() == ""


class Refusing(io.StringIO):
    """A stream whose disk is full, or whose reader left, for a while."""

    error: Exception | None = OSError(28, "No space left on device")

    def write(self, text: str) -> int:
        if self.error is not None:
            raise self.error
        return super().write(text)


class TestLostLines:
    @pytest.mark.parametrize("error", [OSError(28, "full"), BrokenPipeError(32, "left"), ValueError("closed file")])
    def test_stop_nothing_and_are_counted(
        self, written: Written, monkeypatch: pytest.MonkeyPatch, error: Exception
    ) -> None:
        """A log that could not be written failed whatever wrote it: runs stopped for ever."""
        stream = Refusing()
        stream.error = error
        monkeypatch.setattr("sys.stderr", stream)
        for _ in range(3):
            get_logger("t").info("run ended")
        stream.error = None
        for _ in range(2):
            get_logger("t").info("run ended")
        first, second = map(json.loads, stream.getvalue().splitlines())
        assert first["lost_lines"] == 3
        assert "lost_lines" not in second
        assert written.getvalue() == ""

    def test_without_a_stream_are_left_out(self, written: Written, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sys.stderr", None)
        get_logger("t").info("run ended")
        assert written.getvalue() == ""
