import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.features.models.redaction import MASK, redact


class TestRedact:
    @pytest.mark.parametrize(
        "text",
        [
            "Incorrect API key provided: sk-proj-abcDEF123_456-xyz.",
            "Incorrect API key provided: sk-abcde***wxyz.",
            "key gsk_abcdef0123456789 is wrong",
            "url https://x.example/v1?key=AIzaSyA1234567890abcdefgh&alt=sse",
            "header Authorization: Bearer abc.def.ghi",
            "at https://user:hunter2@pypi.example/simple",
            "x-api_key=topsecretvalue",
        ],
    )
    def test_hides_what_has_the_shape_of_a_key(self, text: str) -> None:
        shown = redact(text)
        assert MASK in shown
        for secret in ("abcDEF", "wxyz", "abcdef0123", "A1234567890", "def.ghi", "hunter2", "topsecret"):
            assert secret not in shown

    def test_leaves_ordinary_words_alone(self) -> None:
        text = "The task-force asked for risk-free keys at https://example.org/a?b=c."
        assert redact(text) == text

    def test_hides_a_key_inside_a_longer_one(self) -> None:
        assert redact("abcdefgh-long and abcdefgh", ["abcdefgh", "abcdefgh-long"]) == f"{MASK} and {MASK}"

    @given(st.text(alphabet="abcxyz0123", min_size=6, max_size=40), st.text(), st.text())
    def test_never_lets_a_known_secret_through(self, secret: str, before: str, after: str) -> None:
        shown = redact(before + secret + after, [secret])
        assert secret not in shown.replace(MASK, "\0")
