"""What an answer claims, beside what happened."""

import pytest

from headgate.agents.assistant.truth.claims import NOT_RUN, NOTHING_CHANGED, Happened, false_claims

NOTHING = Happened()
CLAIMS = [
    "I've added a memory component to your flow.",
    "I have now connected the agent to the output.",
    "Added `history` and connected it.",
    "- Created the node `brief`",
    "The URL node has been removed.",
    "The agent was updated with the new model.",
    "Here you go! I built the flow you asked for.",
    "I wrote the file.",
    "I have proposed a new prompt.",
    "I've registered the component.",
    "Jag har lagt till ett minne i flödet.",
    "Jag skrev filen.",
    "Jag kopplade agenten till utdata.",
]
NO_CLAIMS = [
    "",
    "A flow is built of components that are connected by edges.",
    "I could not add the node: there is no component of that name.",
    "Nothing was changed, since the value was set already.",
    "You can add a ChatInput and connect it to the agent.",
    "To build this I would need an API key. Shall I go on?",
    "The flow has two nodes: page, then brief. The URL node fetches what you set.",
    "Jag kunde inte lägga till noden.",
    "Accept the edit, then I run it.",
    "Once it is there, we run the flow.",
]


class TestFalseClaims:
    @pytest.mark.parametrize("answer", CLAIMS)
    def test_are_noted_when_nothing_was_changed(self, answer: str) -> None:
        assert false_claims(answer, NOTHING) == [NOTHING_CHANGED]

    @pytest.mark.parametrize("answer", CLAIMS)
    def test_are_none_when_something_was(self, answer: str) -> None:
        assert false_claims(answer, Happened(changed=True)) == []

    @pytest.mark.parametrize("answer", NO_CLAIMS)
    def test_are_not_seen_where_nothing_is_claimed(self, answer: str) -> None:
        assert false_claims(answer, NOTHING) == []

    @pytest.mark.parametrize(
        "answer",
        [
            "I ran the flow and it works.",
            "I have now run it.",
            "The flow ran without errors.",
            "Jag har kört flödet.",
        ],
    )
    def test_of_a_run_are_noted_when_there_was_none(self, answer: str) -> None:
        assert false_claims(answer, Happened(changed=True)) == [NOT_RUN]
        assert false_claims(answer, Happened(ran=True)) == []

    @pytest.mark.parametrize("hostile", ["- " + " " * 200_000, "i " * 100_000, "* " * 100_000, "a.\n" * 100_000])
    @pytest.mark.timeout(5)
    def test_are_looked_for_in_any_text(self, hostile: str) -> None:
        assert false_claims(hostile, NOTHING) == []
