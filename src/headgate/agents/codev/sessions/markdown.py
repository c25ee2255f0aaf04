"""Untrusted text in Markdown documents. Pure.

They stand in code, a line or a block, that they cannot close: no heading, link or picture of theirs looks like ours.
"""

import re
from typing import Any

from headgate.foundation.quoting import clipped_to

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
_LONGEST = 20_000


def line(text: Any) -> str:  # noqa: ANN401 - any recorded value
    """Return an untrusted text in one line, as code without markup."""
    flat = " ".join(_clean(text).split())
    if not flat:
        return ""
    fence = "`" * (max((len(run) for run in re.findall("`+", flat)), default=0) + 1)
    pad = " " if flat[0] == "`" or flat[-1] == "`" else ""
    return f"{fence}{pad}{flat}{pad}{fence}"


def cell(text: Any) -> str:  # noqa: ANN401 - any recorded value
    """The same in a table, which a bar would break even within code."""
    return line(_clean(text).replace("|", "\u00a6"))


def block(text: Any) -> str:  # noqa: ANN401 - any recorded value
    """A text of others in a fence that it cannot close."""
    clean = _clean(text).strip("\n")
    if not clean.strip():
        return ""
    fence = "`" * max(3, max((len(run) for run in re.findall("`+", clean)), default=0) + 1)
    return f"{fence}text\n{clean}\n{fence}"


def _clean(text: Any) -> str:  # noqa: ANN401 - any recorded value
    return clipped_to(_CONTROLS.sub("", str(text or "").replace("\r\n", "\n").replace("\r", "\n")), _LONGEST)
