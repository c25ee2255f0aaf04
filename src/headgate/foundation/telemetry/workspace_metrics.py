"""The metrics of the file tools (seed 003 section 7)."""

from headgate.foundation.telemetry.metric import Metric

WORKSPACE_METRICS = (
    Metric(
        "counter",
        "headgate_filesystem_tool_calls",
        "Calls of file tools, by how they ended: ok, error, boundary or refused.",
        ("action", "outcome"),
    ),
    Metric(
        "counter",
        "headgate_filesystem_tool_boundary_violations",
        "Paths that lead out of a workspace or into what is reserved.",
        ("mode",),
    ),
    Metric("counter", "headgate_filesystem_tool_refused", "Calls with nobody signed in, or for another person."),
)
