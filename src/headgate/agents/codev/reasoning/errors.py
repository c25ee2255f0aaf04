"""What can go wrong with choosing a session's model."""

from headgate.features.models.readiness import Unready
from headgate.foundation.errors import Invalid


class NoReasoningModel(Invalid):
    """No language model can be asked; the development agent does nothing without one."""

    code = "provider_not_configured"
    title = "Model provider not configured"

    def __init__(self, why: Unready | None) -> None:
        if why is None:
            super().__init__(
                "The development agent needs a language model, and no model provider is configured.",
                remedy="Give one its key under Settings > Models, or `headgate variables set OPENAI_API_KEY`.",
                available=[],
            )
            return
        others = f" Ready are: {', '.join(why.ready)}." if why.ready else ""
        super().__init__(
            f"The development agent needs a language model, and '{why.provider}' is not configured. {why.problem}",
            remedy=f"{why.remedy}{others} `HEADGATE_CODEV__MODEL` sets which one it works with.".strip(),
            provider=why.provider,
            variable=why.variable,
            available=list(why.ready),
        )
