"""What an answer claims, beside what happened."""

import pytest

from headgate.agents.assistant.verification import happened as kinds
from headgate.agents.assistant.verification.claims import NOT_RUN, NOTHING_CHANGED, false_claims
from headgate.agents.assistant.verification.happened import Happened

NOTHING = Happened()
EVERYTHING = Happened(
    changes={
        kind: frozenset({"brief", "history", "url"})
        for kind in (
            kinds.ADDED, kinds.REMOVED, kinds.CONNECTED, kinds.CONFIGURED, kinds.PROPOSED, kinds.WRITTEN
        )
    },
    known=frozenset({"brief", "history", "url"}),
)  # fmt: skip
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
        assert false_claims(answer, EVERYTHING) == []

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
        assert false_claims(answer, EVERYTHING) == [NOT_RUN]
        assert false_claims(answer, Happened(ran=True)) == []

    @pytest.mark.parametrize("hostile", ["- " + " " * 200_000, "i " * 100_000, "* " * 100_000, "a.\n" * 100_000])
    @pytest.mark.timeout(5)
    def test_are_looked_for_in_any_text(self, hostile: str) -> None:
        assert false_claims(hostile, NOTHING) == []


RENAMED = Happened(
    changes={kinds.RENAMED: frozenset({"page", "fetch", "url"})},
    known=frozenset({"page", "fetch", "url", "savefile", "chatoutput", "brief"}),
    nodes=frozenset({3}),
)
ADDED = Happened(
    changes={
        kinds.ADDED: frozenset({"said", "chatoutput"}),
        kinds.CONNECTED: frozenset({"said", "page", "chatoutput"}),
    },
    known=frozenset({"said", "page", "url", "savefile", "chatoutput", "brief"}),
    nodes=frozenset({3, 4}),
)


class TestPartialLies:
    @pytest.mark.parametrize(
        ("answer", "happened", "quoted"),
        [
            ("I renamed it and added SaveFile.", RENAMED, "added SaveFile"),
            ("I renamed `page` to `fetch` and SaveFile was added.", RENAMED, "added SaveFile"),
            ("Jag döpte om noden och lade till SaveFile.", RENAMED, "lade till SaveFile"),
            ("I added ChatOutput and SaveFile.", ADDED, "added ChatOutput, SaveFile"),
            ("I added ChatOutput. I removed `brief`.", ADDED, "removed brief"),
            ("I added ChatOutput and connected `brief` to it.", ADDED, "connected brief"),
        ],
    )
    def test_of_a_change_are_noted(self, answer: str, happened: Happened, quoted: str) -> None:
        (note,) = false_claims(answer, happened)
        assert f'"{quoted}"' in note

    @pytest.mark.parametrize(
        ("answer", "happened"),
        [
            ("I renamed `page` to `fetch`.", RENAMED),
            ("I renamed the URL node.", RENAMED),
            ("I added ChatOutput and connected `page` to it.", ADDED),
            ("I added `said` after `page`, as you asked for `brief`.", ADDED),
            ("Jag har lagt till ChatOutput och kopplat `page` till `said`.", ADDED),
            ("I added ChatOutput. SaveFile could not be added.", ADDED),
        ],
    )
    def test_are_not_seen_in_what_is_true(self, answer: str, happened: Happened) -> None:
        assert false_claims(answer, happened) == []

    def test_of_the_number_of_nodes_are_noted(self) -> None:
        (note,) = false_claims("The flow now has 6 nodes.", ADDED)
        assert "the flow has 3 and 4 nodes" in note
        assert false_claims("The flow now has 4 nodes.", ADDED) == []


class TestNumbers:
    RUN = Happened(ran=True, evidence='{"outputs": {"said": "mean 12.345 of 1500 rows"}, "duration_ms": 2310}')

    @pytest.mark.parametrize(
        "answer",
        [
            "The mean is 12.3.",
            "Medelvärdet är 12,35.",
            "It read 1,500 rows in 2.3 seconds.",
            "There are 3 steps.",
            "It is about 12 of gpt-4.1 on 2026-11-23 at 15:30.",
        ],
    )
    def test_that_are_in_a_result_pass(self, answer: str) -> None:
        assert false_claims(answer, self.RUN) == []

    @pytest.mark.parametrize(
        ("answer", "number"),
        [("The mean is 12.9.", "12.9"), ("It read 1,600 rows.", "1,600"), ("Summan är 88.", "88")],
    )
    def test_that_are_in_no_result_are_noted(self, answer: str, number: str) -> None:
        (note,) = false_claims(answer, self.RUN)
        assert f"The number {number} in" in note

    def test_are_not_compared_where_nothing_ran(self) -> None:
        assert false_claims("The mean is 12.9.", NOTHING) == []
