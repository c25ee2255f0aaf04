"""Metrics of the file tools (seed 003 section 7)."""

from headgate.foundation.telemetry.metric import Metric

WORKSPACE_METRICS = (
    Metric(
        "counter",
        "headgate_filesystem_tool_calls",
        "Calls of file tools, by outcome: ok, error, boundary or refused.",
        ("action", "outcome"),
    ),
    Metric(
        "counter",
        "headgate_filesystem_tool_boundary_violations",
        "Paths outside a workspace or in reserved names.",
        ("mode",),
    ),
    Metric("counter", "headgate_filesystem_tool_refused", "Calls without a signed-in user, or for another user."),
)
