"""Errors of a turn."""

from collections.abc import Sequence

from headgate.features.access.errors import PermissionMissing
from headgate.features.access.permissions import Permission
from headgate.foundation.errors import Cancelled, HeadgateError, Invalid, NotFound, RateLimited


class NoRoomForFlow(PermissionMissing):
    """The space that a new flow would go to is not one in which the caller may make flows."""

    def __init__(self, space: str) -> None:
        needed = Permission.FLOWS_EDIT
        place = f"would be created in the space '{space}', in which you lack" if space else "has no space: you need"
        HeadgateError.__init__(
            self,
            f"A new flow {place} the permission '{needed}'.",
            remedy="Name a flow that you can edit, or ask an owner of the space for the role editor.",
            permission=needed.value,
        )


class ProviderNotConfigured(Invalid):
    """The requested provider lacks a key, an address or its package (seed 001, its table of errors)."""

    code = "provider_not_configured"
    title = "Model provider not configured"

    def __init__(self, provider: str, ready: Sequence[str], *, problem: str, remedy: str) -> None:
        if ready:
            detail = f"Provider '{provider}' is not configured. Available providers: {', '.join(ready)}. {problem}"
        else:
            detail = (
                f"No model provider is configured. Please configure at least one model provider in Settings. {problem}"
            )
        super().__init__(
            detail,
            remedy=f"{remedy} Or use Settings > Model Providers. The provider `offline` needs no configuration.",
            provider=provider,
            available=list(ready),
        )


class TooManyTurns(RateLimited):
    """The user has reached the limit of concurrent turns."""

    code = "too_many_turns"
    title = "Too many concurrent turns"
    remedy = (
        "Wait until one of them is finished, or stop one, and send the request again. "
        "HEADGATE_ASSISTANT__MAX_TURNS_PER_PERSON sets the limit."
    )

    def __init__(self, most: int) -> None:
        super().__init__(
            f"You already have {most} turns of the assistant in progress, in this or other windows or "
            "through your API keys.",
            limit=most,
        )


class TurnNotFound(NotFound):
    """No running turn of this user has that id."""

    code = "turn_not_found"
    remedy = "It may have ended. The first event of a turn has its id."
    detail = "You have no turn {} in progress."


class TurnStopped(Cancelled):
    """The turn was stopped while a caller waited for its answer."""

    code = "turn_stopped"
