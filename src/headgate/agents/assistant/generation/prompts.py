"""Prompts of the model, from the Markdown files in this folder."""

from pathlib import Path
from string import Template

from headgate.foundation.quoting import clipped_to

_HERE = Path(__file__).parent
PROMPT = (_HERE / "prompt.md").read_text(encoding="utf-8")
"""How to write a component: the system prompt."""
_RETRY = Template((_HERE / "retry.md").read_text(encoding="utf-8"))
MAX_ERROR_CHARS = 4_000
MAX_CODE_CHARS = 30_000


def retry_prompt(request: str, *, error: str, code: str) -> str:
    """Return the request with the errors of the last attempt.

    Args:
        request: The original request.
        error: Every finding, a line each.
        code: The code that failed; empty when the answer contained none.
    """
    return _RETRY.substitute(
        request=request, error=clipped_to(error, MAX_ERROR_CHARS), code=clipped_to(code, MAX_CODE_CHARS) or "(no code)"
    )
