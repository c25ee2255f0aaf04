"""Fingerprints of errors: failures with the same code, step and normalised message are the same error. Pure."""

import re
from hashlib import sha256

_VARIABLE = re.compile(
    r"(?<=begins: ).*"  # the start of a text that could not be read
    r"|(?<!\w)(?P<quote>['\"]).*?(?P=quote)(?!\w)|“.*?”"  # quoted values
    r"|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"  # ids
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"  # addresses
    r"|\b(?=[0-9a-f]*[0-9])[0-9a-f]{8,}\b"  # digests
    r"|\d+(?:[.,:]\d+)*",  # numbers, times
    re.IGNORECASE | re.DOTALL,
)


def normalised(message: str) -> str:
    """Return a message in lower case and single spaces, with what differs between runs replaced by `*`.

    These are quoted values, ids, addresses, digests, numbers, and the start of a text after `begins:`.
    """
    return " ".join(_VARIABLE.sub("*", message).lower().split())


def fingerprint(code: str, step_id: str, message: str) -> str:
    """Return the fingerprint of an error: 12 hexadecimal digits."""
    return sha256("\0".join((code, step_id, normalised(message))).encode()).hexdigest()[:12]
