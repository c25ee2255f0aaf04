"""What can go wrong with a turn."""

from collections.abc import Sequence

from headgate.features.access.errors import PermissionMissing
from headgate.features.access.permissions import Permission
from headgate.foundation.errors import Cancelled, HeadgateError, Invalid, NotFound, RateLimited


class NoRoomForFlow(PermissionMissing):
    """The space that a new flow would go to is not one in which the caller may make flows."""

    def __init__(self, space: str) -> None:
        needed = Permission.FLOWS_EDIT
        place = f"would go to the space '{space}', in which you lack" if space else "has no space to go to: you need"
        HeadgateError.__init__(
            self,
            f"A new flow {place} the permission '{needed}'.",
            remedy="Name a flow that you may edit, or ask an owner of the space for the role editor.",
            permission=needed.value,
        )


class ProviderNotConfigured(Invalid):
    """The provider that was asked for lacks a key, an address or its package (seed 001, its table of errors)."""

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
    """One person has as many turns at work as are allowed at once."""

    code = "too_many_turns"
    title = "Too many turns at once"

    def __init__(self, most: int) -> None:
        super().__init__(
            f"You have {most} turns of the assistant at work, in this or other windows or through your API keys, and "
            "no more are allowed at once.",
            remedy="Wait until one of them is done, or stop one, and send this again. How many are allowed is set with "
            "HEADGATE_ASSISTANT__MAX_TURNS_PER_PERSON.",
            limit=most,
        )


class TurnNotFound(NotFound):
    """No turn of that id is being worked on for this person."""

    code = "turn_not_found"
    title = "Turn not found"

    def __init__(self, turn_id: str) -> None:
        super().__init__(
            f"You have no turn {turn_id} that is being worked on.",
            remedy="It may be over. Its first event, and the server that it was sent by, say its id.",
        )


class TurnStopped(Cancelled):
    """The turn was stopped while its answer was waited for."""

    code = "turn_stopped"
    title = "Turn stopped"
