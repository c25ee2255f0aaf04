"""Keys that people write into what they want."""

import pytest

from headgate.agents.codev.keys import LEFT_OUT, holds_left_out, without_keys
from headgate.agents.codev.schemas import PlanAnswer, SessionStart

LONG = "aB3" * 12
KEYS = {
    "OpenAI": "sk-proj-" + LONG,
    "Anthropic": "sk-ant-api03-" + LONG,
    "GitHub": "ghp_" + LONG,
    "Slack": "xoxb-" + "123456789012-abcdefghijkl",
    "Google": "AIza" + "SyA" + LONG,
    "Amazon": "AKIA" + "IOSFODNN7EXAMPLE",
    "a token in three parts": "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxIn0" + ".c2lnbmF0dXJl",
    "Azure": "0123456789abcdef" * 2,
    "our own": "hg_" + LONG,
}
SENTENCES = (
    "{}",
    "Use {} for it.",
    "The key is '{}', and then?",
    "api_key={}",
    '{{"apiKey": "{}"}}',
    "Bearer {}",
    "`{}`",
)


class TestWithoutKeys:
    @pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
    @pytest.mark.parametrize("sentence", SENTENCES)
    def test_leaves_out_what_looks_like_one(self, key: str, sentence: str) -> None:
        told = without_keys(sentence.format(key))
        assert key not in told
        assert key[-12:] not in told
        assert LEFT_OUT in told
        assert without_keys(told) == told

    @pytest.mark.parametrize(
        "text",
        [
            "The password is hunter22.",
            "password: correcthorse",
            "lösenordet? lösenord: hemligt",
            "Log in at https://ann:hunter22@crm.example/v1",
            "FLOWISE_API_KEY=Zm9vYmFyYmF6",
            "My access token is: Zm9vYmFyYmF6.",
            "Authorization: Basic YW5uOmh1bnRlcjIy",
        ],
    )
    def test_leaves_out_what_is_said_to_be_one(self, text: str) -> None:
        told = without_keys(text)
        assert LEFT_OUT in told
        for secret in ("hunter22", "correcthorse", "hemligt", "Zm9vYmFyYmF6", "YW5uOmh1bnRlcjIy"):
            assert secret not in told

    @pytest.mark.parametrize(
        "text",
        [
            "A basic chatbot with basic understanding of bearer authentication.",
            "A basic ConversationChain, a Basic Question-Answering agent and basic customer-service/troubleshooting.",
            "Count each token: stop when the token limit is reached. The secret is simple.",
            "Send the header Authorization: Bearer CRM_TOKEN, token=CRM_TOKEN, api_key: OPENAI_API_KEY.",
            "Work on the flow 0197a0e2-7d2e-7c3c-9a3f-6b1f0c2d3e4f with claude-3-5-sonnet-20241022.",
            "Fetch https://crm.example/v1/customers?since=2026-01-01 and https://example.org/a@b.",
            'Answer {"token": {{token}}, "password": "{{form.password}}"}.',
            "The key is that each answer is short; keyword: refund.",
            "text_embedding_3_large_with_3072_dimensions_and_1536_more",
        ],
    )
    def test_leaves_all_else(self, text: str) -> None:
        assert without_keys(text) == text

    def test_is_quick_for_the_longest_texts(self) -> None:
        for piece in ("token ", "password is ", "://a:", "-_", "bearer ", "a", "sk-"):
            without_keys(piece * (100_000 // len(piece)))


class TestWhatPeopleWrite:
    def test_has_no_keys(self) -> None:
        key = KEYS["OpenAI"]
        start = SessionStart(requirement=f"Ask with {key}")
        case = {"name": key, "text": f"key {key}", "form": {"a": [key]}, "expect": {"contains": [key], "equals": key}}
        answer = PlanAnswer(type="plan_approval", approved=True, plan=f"# {key}", feedback=key, cases=[case])
        assert key not in start.model_dump_json() + answer.model_dump_json()
        assert holds_left_out(start.model_dump(mode="json"))
        assert holds_left_out({"a": [answer.model_dump(mode="json")]})
        assert not holds_left_out({"a": ["b", 1, None]})
