"""Metrics of the assistant and of the MCP server (seed 000 section 7.1, seed 001 section 7).

Some occur in the page only, which reports them in batches (`agents/assistant/page_metrics.py`).
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
    _counted("assistant_requests_by_intent", "Requests by detected intent.", "intent"),
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
    _counted("assistant_model_fallbacks", "Number of fallbacks to another model of the provider.", "provider"),
    Metric("gauge", "headgate_assistant_turns", "Turns in progress."),
    Metric(
        "histogram",
        "headgate_assistant_validation_attempts",
        "Attempts until a generated component passed, or until the attempts were used up.",
        (),
        _FEW,
    ),
    Metric(
        "gauge",
        "headgate_assistant_validation_success_rate",
        "Percent of generated components that passed at their first attempt, since the start of the process.",
    ),
    _counted("assistant_flow_proposal_ready", "Flows proposed to a user."),
    _counted("assistant_flow_update_events", "Flow change events, by kind.", "action"),
    _counted("assistant_flow_orphan_rejection", "Flow texts rejected because of an unconnected node."),
    Metric("histogram", "headgate_assistant_build_tasks_per_message", "Changes of the flow in one turn.", (), _MANY),
    _counted("assistant_plan_proposal", "Plans that were proposed."),
    _counted("assistant_plan_continue", "Plans that were approved."),
    _counted("assistant_plan_refinement_send", "Requests that refine a plan."),
    _counted("assistant_plan_replan", "Plans that answer a refinement."),
    _counted("assistant_tool_cache_hit", "Tool results served from the turn's cache.", "tool"),
    _counted("assistant_tool_cache_miss", "Tool results that were computed.", "tool"),
    _counted("assistant_tool_cache_eviction", "Tool results evicted from a turn's cache because it was full."),
    Metric("gauge", "headgate_assistant_conversation_buffer_sessions", "Conversations that are remembered."),
    _counted("assistant_conversation_buffer_session_evicted", "Conversations evicted for newer ones."),
    _counted("assistant_conversation_buffer_turn_recorded", "Turns that were remembered."),
    _counted("assistant_conversation_buffer_turn_skipped", "Turns that were not remembered, and why.", "reason"),
    _counted("assistant_user_component_registered", "Components stored for a user."),
    _counted("assistant_user_component_register_refused", "Components that were not stored, and why.", "reason"),
    Metric(
        "histogram",
        "headgate_assistant_user_component_overlay_entries",
        "A user's custom components available to a request.",
        (),
        _MANY,
    ),
    _counted("assistant_user_component_overlay_skipped", "Component files that were skipped.", "reason"),
    _counted("assistant_session_reset", "Conversations that were reset."),
    _counted("assistant_session_reset_components_cleared", "Components deleted by that."),
    _counted("assistant_flow_proposal_continue", "Proposed flows that a user accepted."),
    _counted("assistant_flow_proposal_dismiss", "Proposed flows that a user dismissed."),
    _counted("assistant_flow_tail_update_buffered", "Changes that were merged into a pending proposal."),
    Metric(
        "histogram",
        "headgate_assistant_flow_apply_duration_ms",
        "Milliseconds from adding a proposed flow to its nodes being on the canvas, in the browser.",
        (),
        _CALL_BUCKETS_MS,
    ),
    _counted("assistant_plan_dismiss", "Plans that a user dismissed to refine them."),
    _counted("assistant_plan_reset", "Plans that a user abandoned."),
    Metric("gauge", "headgate_assistant_skip_all_enabled_count", "Users who hide every gate, as their pages reported."),
    _counted("assistant_skip_all_toggle", "Times that a user hid every gate or showed them again."),
    _counted("assistant_skip_all_auto_approve", "Plans that were approved because every gate was hidden."),
    _counted("assistant_input_history_recall", "Earlier requests that a user recalled with an arrow key."),
    _counted("mcp_tool_invocations", "Tool calls of the assistant and of MCP clients.", "tool", "success"),
    Metric("histogram", "headgate_mcp_tool_duration_ms", "Milliseconds a tool call took.", ("tool",), _CALL_BUCKETS_MS),
)
