"""The seal of an evidence package: a signature of its chain's head."""

from typing import Any

from headgate.foundation.signing import Signer, broken_signature

FORMAT = "headgate-evidence/1"


def seal_of(signer: Signer, head: str, steps: int, form: str = FORMAT) -> dict[str, Any]:
    """Return the seal of a chain: the signed data and the signature."""
    return signer.sign(_members(head, steps, form))


def broken_seal(seal: Any, head: str, steps: int, form: str = FORMAT) -> str | None:  # noqa: ANN401 - from a file
    """Return the fault of a seal, or None when its signature is valid for this chain."""
    return broken_signature(seal, _members(head, steps, form))


def _members(head: str, steps: int, form: str) -> dict[str, Any]:
    return {"format": form, "head": head, "steps": steps}
