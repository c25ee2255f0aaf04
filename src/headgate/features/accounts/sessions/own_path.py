"""Where somebody goes after signing in: to a path of this site, whatever an address says."""

from urllib.parse import urlsplit

HOME = "/"
"""Where people go who wanted nothing else."""
LONGEST = 1000


def own_path(wanted: str) -> str:
    r"""The path if it is one of this site; `HOME` for `//evil.example`, `/\evil.example` and everything else.

    Browsers read a backslash as a slash, and drop line breaks and tabs: neither may stand in it.
    """
    if not wanted.startswith("/") or wanted.startswith("//") or len(wanted) > LONGEST:
        return HOME
    if "\\" in wanted or any(not " " < letter <= "~" for letter in wanted):
        return HOME
    try:
        parts = urlsplit(wanted)
    except ValueError:
        return HOME
    return HOME if parts.scheme or parts.netloc else wanted
