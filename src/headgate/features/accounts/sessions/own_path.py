"""Redirects after sign-in: only to a path of this site."""

from urllib.parse import urlsplit

HOME = "/"
"""Default path after sign-in."""
LONGEST = 1000


def own_path(path: str) -> str:
    r"""Return the path when it belongs to this site; `HOME` for `//evil.example`, `/\evil.example` and everything else.

    Browsers read a backslash as a slash, and drop line breaks and tabs: a path must not contain these.
    """
    if not path.startswith("/") or path.startswith("//") or len(path) > LONGEST:
        return HOME
    if "\\" in path or any(not " " < character <= "~" for character in path):
        return HOME
    try:
        parts = urlsplit(path)
    except ValueError:
        return HOME
    return HOME if parts.scheme or parts.netloc else path
