"""The step that uses a port."""

from dataclasses import dataclass

from headgate.features.runs.transitions import RunKey


@dataclass(frozen=True, slots=True)
class Origin:
    """The step on whose behalf an artifact is saved or a secret is read."""

    key: RunKey
    step_id: str
