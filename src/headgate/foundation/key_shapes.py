"""Patterns of keys of known services, for logs and flow checks."""

import re
from typing import Final

KEY_SHAPE = (
    r"\b(?:sk|pk|gh[opsur]|github_pat|glpat|gsk|xox[abp]|whsec|hf|hg)[-_][A-Za-z0-9_-]{12,}"
    r"|\bAIza[A-Za-z0-9_-]{20,}|\bAKIA[A-Z0-9]{12,}|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_.-]{8,}"
)
"""A regular expression without groups; `hg` are Headgate's own keys."""

_ABOUT_A_KEY: Final = re.compile(
    r"(?:^|[_-])(?:without|no|has|missing|needs|public|primary|foreign|sort|partition)[_-][a-z]+$", re.IGNORECASE
)


def is_about_a_key(name: str) -> bool:
    """Return whether a name such as `without_key` or `primary_key` only looks like the name of a secret."""
    return _ABOUT_A_KEY.search(name.strip()) is not None
