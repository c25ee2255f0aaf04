"""What keys of known services look like: one pattern for logs and for checks of flows."""

KEY_SHAPE = (
    r"\b(?:sk|pk|gh[opsur]|github_pat|glpat|gsk|xox[abp]|whsec|hf|hg)[-_][A-Za-z0-9_-]{12,}"
    r"|\bAIza[A-Za-z0-9_-]{20,}|\bAKIA[A-Z0-9]{12,}|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_.-]{8,}"
)
"""A regular expression without groups; `hg` are Headgate's own keys."""
