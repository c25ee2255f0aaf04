from headgate.entrypoints.mcp.text import MOST_CHARACTERS, as_text


class TestAsText:
    def test_is_short_and_readable(self) -> None:
        answer = {
            "flow_id": "f1",
            "runnable": True,
            "issues": [],
            "flows": [{"id": "a", "name": "Talk", "published": None}, {"id": "b", "name": "Two\nlines"}],
            "seal": {"head": "x", "deep": {"n": 1}},
            "diagram": "a\n|\nb\n",
        }
        assert as_text(answer) == (
            "flow_id: f1\nrunnable: yes\nissues: []\nflows:\n- id: a, name: Talk\n- id: b, name: Two lines\n"
            "seal:\n  head: x\n  deep:\n    n: 1\ndiagram:\n  a\n  |\n  b"
        )

    def test_is_cut(self) -> None:
        found = as_text({"text": "x" * (2 * MOST_CHARACTERS)})
        assert len(found) < MOST_CHARACTERS + 200
        assert "16,006 more characters: the structured content has them" in found

    def test_is_cut_between_two_lines(self) -> None:
        answer = {"flows": [{"flow_id": f"flow-{number:04}"} for number in range(1000)]}
        lines = as_text(answer).split("\n")
        assert lines[-2] == f"- flow_id: flow-{len(lines) - 3:04}"
        assert len("\n".join(lines[:-1])) <= MOST_CHARACTERS
