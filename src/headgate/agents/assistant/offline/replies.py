"""What the offline builder says. It never pretends to be a language model."""

from collections.abc import Sequence

from headgate.graph.names import listed

NAME = "offline builder"
_LACKS = {
    "x.mail": "send email (a webhook step can call a service that does)",
    "x.chat": "post to chat services (a webhook step can call one that takes webhooks)",
    "x.schedule": "start flows on a schedule",
    "x.chart": "draw charts",
    "x.image": "work with pictures",
    "x.audio": "work with sound",
    "x.database": "talk to databases",
    "x.cloud": "reach that service on its own (an HTTP request step can call its API)",
    "x.login": "sign in to websites or click on them",
    "x.train": "train or run machine learning",
    "x.shell": "run commands on the machine",
    "f.unsupported": "write that format (it writes .txt, .md, .csv, .json and .html)",
    "column": "tell which column is meant",
}
CONNECT = (
    "Connect a language model to do that: in Settings, under Models, or in a terminal"
    " (`headgate variables set OPENAI_API_KEY` sets a key, `headgate models pull` fetches a model that needs none)."
)


def quoted(parts: Sequence[str]) -> str:
    """`'a', 'b' and 2 more`."""
    return listed([f"'{part}'" for part in parts], most=6)


def notes(assumed: Sequence[str], left_out: Sequence[str], lacking: Sequence[str]) -> str:
    """What was assumed and what was not done, as paragraphs; empty when there is nothing to say."""
    found: list[str] = []
    if assumed:
        found.append("Assumed: " + " ".join(assumed))
    if lacking:
        found.append("Not done: " + " ".join(lack(part) for part in lacking))
    if left_out:
        found.append(f"I did not act on: {quoted(left_out)}.")
    return "\n\n".join(found)


def lack(part: str) -> str:
    """A part that Headgate cannot do, with why."""
    sense, _, words = part.partition(":")
    reason = _LACKS.get(sense)
    if reason is None:
        return f"{part}."
    return f"'{words}': flows cannot {reason}."


def refusal(reason: str, examples: Sequence[str]) -> str:
    """An honest no, with examples of what is possible near the request."""
    lines = "\n".join(f"- {example}" for example in examples)
    return f"I cannot do that offline: {reason}\n\nThings the {NAME} can do:\n{lines}"


def needs_model(parts: Sequence[str], rest: str) -> str:
    """A part of the request takes a language model; nothing was built."""
    would = f"\n\nWith a model I would build: {rest}." if rest else ""
    opening = f"{quoted(parts)} needs a language model, and none is connected."
    return f"{opening} I am the {NAME} and built nothing yet.{would}\n\n{CONNECT}"
