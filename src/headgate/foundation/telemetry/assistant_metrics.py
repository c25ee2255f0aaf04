"""The metrics of the assistant and of the MCP server (seed 000 section 7.1, seed 001 section 7).

Some happen in the page alone, which reports them in batches (`agents/assistant/page_metrics.py`).
"""

from headgate.foundation.telemetry.metric import Metric

_TURN_BUCKETS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600)
_CALL_BUCKETS_MS = (1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 60_000)
_FEW = (1, 2, 3, 4, 5, 10)
_MANY = (0, 1, 2, 5, 10, 20, 30, 50, 100)


def _counted(name: str, text: str, *labels: str) -> Metric:
    return Metric("counter", f"headgate_{name}", text, labels)


ASSISTANT_METRICS = (
    _counted("assistant_requests", "Requests to the assistant."),
    _counted("assistant_requests_by_intent", "Requests by what they were taken for.", "intent"),
    _counted("assistant_intent_build_flow", "Requests to build or change a flow."),
    Metric(
        "histogram",
        "headgate_assistant_generation_duration_seconds",
        "Time from a request to the end of its turn.",
        ("intent",),
        _TURN_BUCKETS,
    ),
    _counted("assistant_provider_usage", "Requests by the provider of the model.", "provider"),
    _counted("assistant_tokens", "Tokens of turns, by phase.", "phase", "direction"),
    _counted("assistant_errors", "Turns that ended with an error.", "code"),
    _counted("assistant_cancellations", "Turns that were stopped, and why.", "reason"),
    _counted("assistant_model_fallbacks", "Times that another model of the provider was tried.", "provider"),
    Metric("gauge", "headgate_assistant_turns", "Turns that are being worked on."),
    Metric(
        "histogram",
        "headgate_assistant_validation_attempts",
        "Attempts until a generated component passed, or until no more were made.",
        (),
        _FEW,
    ),
    Metric(
        "gauge",
        "headgate_assistant_validation_success_rate",
        "Percent of generated components that passed at their first attempt, since the start of the process.",
    ),
    _counted("assistant_flow_proposal_ready", "Flows that were proposed for a person to look at."),
    _counted("assistant_flow_update_events", "Changes of flows that were told, by kind.", "action"),
    _counted("assistant_flow_orphan_rejection", "Flow texts that were refused for a loose node."),
    Metric("histogram", "headgate_assistant_build_tasks_per_message", "Changes of the flow in one turn.", (), _MANY),
    _counted("assistant_plan_proposal", "Plans that were proposed."),
    _counted("assistant_plan_continue", "Plans that were approved."),
    _counted("assistant_plan_refinement_send", "Requests that refine a plan."),
    _counted("assistant_plan_replan", "Plans that answer a refinement."),
    _counted("assistant_tool_cache_hit", "Answers of tools that were taken from the turn's cache.", "tool"),
    _counted("assistant_tool_cache_miss", "Answers of tools that were worked out.", "tool"),
    _counted("assistant_tool_cache_eviction", "Answers that left a turn's cache because it was full."),
    Metric("gauge", "headgate_assistant_conversation_buffer_sessions", "Conversations that are remembered."),
    _counted("assistant_conversation_buffer_session_evicted", "Conversations that were forgotten for newer ones."),
    _counted("assistant_conversation_buffer_turn_recorded", "Turns that were remembered."),
    _counted("assistant_conversation_buffer_turn_skipped", "Turns that were not remembered, and why.", "reason"),
    _counted("assistant_user_component_registered", "Components that were kept for a person."),
    _counted("assistant_user_component_register_refused", "Components that were not kept, and why.", "reason"),
    Metric(
        "histogram",
        "headgate_assistant_user_component_overlay_entries",
        "A person's own components that a request saw.",
        (),
        _MANY,
    ),
    _counted("assistant_user_component_overlay_skipped", "Files of components that were passed over.", "reason"),
    _counted("assistant_session_reset", "Conversations that were begun anew."),
    _counted("assistant_session_reset_components_cleared", "Components that were deleted by that."),
    _counted("assistant_flow_proposal_continue", "Proposed flows that a user put on the canvas."),
    _counted("assistant_flow_proposal_dismiss", "Proposed flows that a user dismissed."),
    _counted("assistant_flow_tail_update_buffered", "Changes that came after a proposed flow and joined it."),
    Metric(
        "histogram",
        "headgate_assistant_flow_apply_duration_ms",
        "Milliseconds from adding a proposed flow to its nodes being on the canvas, in the browser.",
        (),
        _CALL_BUCKETS_MS,
    ),
    _counted("assistant_plan_dismiss", "Plans that a user dismissed to refine them."),
    _counted("assistant_plan_reset", "Plans that a user gave up."),
    Metric("gauge", "headgate_assistant_skip_all_enabled_count", "Users who hide every gate, as their pages reported."),
    _counted("assistant_skip_all_toggle", "Times that a user hid every gate or showed them again."),
    _counted("assistant_skip_all_auto_approve", "Plans that were approved because every gate was hidden."),
    _counted("assistant_input_history_recall", "Earlier requests that a user recalled with an arrow key."),
    _counted("mcp_tool_invocations", "Tool calls of the assistant and of MCP clients.", "tool", "success"),
    Metric("histogram", "headgate_mcp_tool_duration_ms", "Milliseconds a tool call took.", ("tool",), _CALL_BUCKETS_MS),
)
