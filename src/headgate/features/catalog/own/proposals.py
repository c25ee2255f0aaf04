"""Component proposals: checked and shown, and stored only when the user accepts them.

Nothing of a proposal is stored. Its id is a tag over the user, the code and the time, so that any server of the
installation can verify whether this code was shown to this user.
"""

import time
from dataclasses import dataclass
from datetime import UTC, datetime

import orjson

from headgate.features.access.principal import Principal
from headgate.features.catalog.own.checked import CheckedComponent, code_hash
from headgate.foundation.crypto import SecretBox
from headgate.foundation.errors import NotFound

SECONDS = 24 * 3600
"""How long a proposal can be accepted."""
_PURPOSE = "component proposal"


class ComponentNotProposed(NotFound):
    """There is no such proposal for this user and this code."""

    code = "component_not_proposed"


@dataclass(frozen=True, slots=True)
class ProposedComponent:
    """A component that passed its checks and waits for acceptance."""

    checked: CheckedComponent
    id: str
    expires_at: datetime
    attempts: int = 1
    """Number of attempts until it passed."""


def propose(
    secret_box: SecretBox, principal: Principal, checked: CheckedComponent, attempts: int = 1
) -> ProposedComponent:
    """Return a proposal for code that passed its checks."""
    at = int(time.time())
    id_ = f"{at:x}-{secret_box.tag(_PURPOSE, _statement(principal, checked.code, at))}"
    return ProposedComponent(checked, id_, datetime.fromtimestamp(at + SECONDS, UTC), attempts)


def require_proposed(secret_box: SecretBox, principal: Principal, proposal_id: str, code: str) -> None:
    """Raise `ComponentNotProposed` unless exactly this code was recently proposed to this user."""
    time_part, _, tag = proposal_id.partition("-")
    at = int(time_part, 16) if time_part.isalnum() and time_part.isascii() and _is_hex(time_part) else 0
    if not secret_box.is_tag(_PURPOSE, _statement(principal, code, at), tag):
        raise ComponentNotProposed(
            "This code does not match the proposal: it differs from the checked code, or the proposal id is wrong.",
            remedy="Propose the current code, and save it with the id of that proposal.",
        )
    if at + SECONDS < time.time():
        raise ComponentNotProposed(
            "The proposal has expired.", remedy="Propose the code again, and save it with the new id."
        )


def _statement(principal: Principal, code: str, at: int) -> str:
    return orjson.dumps([principal.tenant_id, principal.user_id, code_hash(code), at]).decode()


def _is_hex(text: str) -> bool:
    return len(text) <= 12 and all(character in "0123456789abcdef" for character in text)
