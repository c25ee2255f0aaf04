"""Errors of selecting a session's model."""

from headgate.features.models.readiness import Unready
from headgate.foundation.errors import Invalid


class NoReasoningModel(Invalid):
    """No language model is available; the development agent requires one."""

    code = "provider_not_configured"
    title = "Model provider not configured"

    def __init__(self, why: Unready | None) -> None:
        if why is None:
            super().__init__(
                "The development agent needs a language model, and no model provider is configured.",
                remedy="Set a key under Settings > Models, or with `headgate variables set OPENAI_API_KEY`.",
                available=[],
            )
            return
        others = f" Ready are: {', '.join(why.ready)}." if why.ready else ""
        super().__init__(
            f"The development agent needs a language model, and '{why.provider}' is not configured. {why.problem}",
            remedy=f"{why.remedy}{others} `HEADGATE_CODEV__MODEL` sets its model.".strip(),
            provider=why.provider,
            variable=why.variable,
            available=list(why.ready),
        )
