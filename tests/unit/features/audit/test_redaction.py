"""What the audit log shows holds no secret, is JSON, and is short; whatever it is given."""

from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from headgate.features.audit.redaction import MAX_PAYLOAD, plain, shown
from headgate.foundation.secret_values import REDACTED

SECRET = "Tr0ub4dor9Horse7Battery2Staple5"
NAMES = (
    "password", "api_key", "apiKey", "x-api-key", "Authorization", "Set-Cookie", "accessToken", "client_secret",
    "passphrase", "private_key", "OPENAI_API_KEY", "credentials", "X-Amz-Signature", "newPassword", "sig", "auth",
)  # fmt: skip
KEYS = (
    f"sk-{SECRET}", f"Bearer {SECRET}", f"ghp_{SECRET}", f"hg_{SECRET}", f"password={SECRET}", f"AIza{SECRET}",
    f"https://me:{SECRET}@host.example/x", f"postgres://{SECRET}@host/db", f"https://h.example/hook/{SECRET}",
    f"https://h.example?x={SECRET}#y", f"see https://h.example/?token={SECRET} there", f"redis://:{SECRET}@h:1/0",
    f"https://h.example#{SECRET}", f"Basic {SECRET}",
)  # fmt: skip
plain_values = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30)
names = st.text(max_size=20)
hidden = st.one_of(
    st.sampled_from(KEYS),
    st.builds(
        lambda name, value: {name: value}, st.sampled_from(NAMES), st.sampled_from([SECRET, [SECRET], {"x": SECRET}])
    ),
    st.builds(lambda name: {"name": name, "value": SECRET}, st.sampled_from(NAMES)),
    st.builds(lambda text: {text: 1}, st.sampled_from(KEYS)),
    st.just(SecretStr(SECRET)),
)


def nested(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(children, max_size=4) | st.dictionaries(names, children, max_size=4)


payloads = st.recursive(hidden | plain_values, nested, max_leaves=20)


class TestShown:
    @given(payloads)
    def test_never_holds_a_secret(self, payload: Any) -> None:
        assert SECRET not in shown(payload)

    @given(st.recursive(plain_values | st.text(min_size=500, max_size=3000), nested, max_leaves=30))
    def test_is_json_within_the_limit(self, payload: Any) -> None:
        found = shown(payload)
        assert len(found) <= MAX_PAYLOAD
        orjson.loads(found)

    @given(st.integers(0, 5000))
    def test_cuts_no_secret_in_half(self, before: int) -> None:
        found = shown({"text": "a" * before + f" sk-{SECRET}"})
        assert SECRET[:8] not in found

    def test_keeps_what_is_short_and_harmless(self) -> None:
        given = {"name": "Invoices", "version": 3, "tags": ["a", None, True, 1.5], "åäö": "ü"}
        assert orjson.loads(shown(given)) == given

    def test_says_what_was_cut(self) -> None:
        found = orjson.loads(shown({"text": "a" * 3000, "items": list(range(400))}))
        assert found["text"].endswith("[cut: 2488 more characters]")
        assert found["items"][-1] == "[cut: 225 more items]"

    def test_of_what_cannot_be_cut_says_how_long_it_was(self) -> None:
        value: Any = "x" * 900
        for _ in range(6):
            value = [value] * 3
        assert shown(value).startswith('"[cut: a value of ')

    def test_of_deep_values_ends(self) -> None:
        value: Any = "leaf"
        for _ in range(200):
            value = [value]
        assert "[cut: too deep or too much]" in shown(value)

    def test_is_quick_for_hostile_text(self) -> None:
        assert (
            len(
                shown(
                    {
                        "text": "a" * 4_000_000,
                        "more": "://" * 100_000,
                        "at": "a://" + "@" * 100_000,
                        "many": [["x"] * 100] * 10_000,
                    }
                )
            )
            < MAX_PAYLOAD
        )


class TestPlain:
    def test_is_storable_on_every_database(self) -> None:
        assert plain("a\0b\ud800c", 300) == "a\N{REPLACEMENT CHARACTER}b?c"

    def test_hides_a_key_in_a_name(self) -> None:
        assert plain(f"my sk-{SECRET}", 300) == f"my {REDACTED}"
