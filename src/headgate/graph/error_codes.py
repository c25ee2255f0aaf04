"""Codes of errors that steps fail with, and the warning about a code that no error has."""

from collections.abc import Iterator, Sequence

from headgate.graph.issues import Issue, IssueCode
from headgate.graph.model import Flow, RetryPolicy
from headgate.graph.names import did_you_mean

ANY_CODE = "*"
# fmt: off
ERROR_CODES: Sequence[str] = (
    "address_refused", "answer_too_large", "api_not_described", "approval_content_changed", "approval_decided",
    "approval_link_refused", "approval_not_assigned", "approval_not_found", "approval_response_invalid",
    "authorization_lost", "bad_connection", "bad_mcp_server", "bad_model_file", "bad_model_server",
    "bad_model_settings", "bad_request", "bad_upload", "bad_url", "bad_variable", "bad_webhook_secret",
    "broken_answer", "broken_model_answer", "budget_exceeded", "cancelled", "capacity_short", "certificate_refused",
    "circuit_not_found", "circuit_open", "class_unknown", "classification_refused", "code_failed", "code_refused",
    "code_timed_out", "code_too_big", "component_error", "conflict", "connect_failed", "connection_ambiguous",
    "connection_dropped", "connection_mismatch", "connection_name_taken", "connection_not_found",
    "connection_unusable", "content_damaged", "content_destroyed", "contract_broken", "delivery_not_found",
    "description_replaced", "document_not_made", "document_timed_out", "document_too_large",
    "documents_not_installed", "encryption_required", "event_invalid", "event_key_reused", "event_too_large",
    "extra_not_installed", "file_damaged", "file_not_found", "file_too_large", "flow_invalid", "forbidden",
    "header_refused", "host_not_found", "host_refused", "internal_error", "invalid", "key_missing",
    "knowledge_base_name_taken", "knowledge_base_not_found", "knowledge_document_not_found",
    "knowledge_evaluation_not_found", "knowledge_name_taken", "knowledge_not_embedded", "knowledge_not_reranked",
    "knowledge_question_not_found",
    "knowledge_readers_unknown", "knowledge_rights_differ", "knowledge_vectors_not_installed",
    "knowledge_version_not_found", "local_model_failed", "local_model_missing", "mcp_missing", "mcp_not_authorizable",
    "mcp_programs_refused", "mcp_registry_failed", "mcp_sampling_refused", "mcp_server_ambiguous", "mcp_server_failed",
    "mcp_server_name_taken", "mcp_server_not_found", "mcp_server_off", "mcp_tool_changed", "mcp_tool_failed",
    "mcp_tool_not_found", "mcp_tools_not_found", "mcp_tools_replaced",
    "model_answer_withheld", "model_call_failed", "model_input_too_large", "model_key_missing", "model_key_rejected",
    "model_lacks_input", "model_not_accessible", "model_not_classed", "model_not_found", "model_not_set_up",
    "model_pull_failed", "model_quota_exhausted", "model_rate_limited", "model_request_refused",
    "model_server_not_found", "model_skipped", "model_timed_out", "model_unreachable", "no_data_key",
    "no_knowledge_picture", "no_knowledge_questions", "no_room_for_file", "not_evidence", "not_found",
    "not_in_the_sandbox", "not_redeliverable", "oauth_grant_ended", "oauth_grant_pending", "oauth_missing",
    "oauth_provider_failed", "operation_not_found", "output_too_large", "outside_content_refused",
    "parent_run_paused", "parent_step_gone",
    "policy_unmet", "price_unknown", "prompt_too_long", "provider_not_installed", "proxy_failed", "quota_exceeded",
    "quota_invalid", "rate_limited", "report_too_large", "request_timed_out", "run_damaged", "run_input_invalid",
    "run_not_found", "run_not_over", "run_not_resumable", "run_of_step", "run_over", "sandbox_busy",
    "sandbox_unavailable",
    "source_run_gone", "spec_invalid", "state_changed", "state_invalid", "state_not_found", "step_not_found",
    "step_timeout", "storage_failed", "storage_full", "storage_not_installed", "subflow_failed", "subflow_refused",
    "too_large", "too_many_documents", "too_many_events", "too_many_knowledge_questions", "too_many_redirects",
    "too_many_reports", "tool_call_rejected", "tool_refused", "unauthenticated", "unavailable", "unknown_provider",
    "unreadable_document", "upstream_failed", "user_component_refused", "value_mismatch", "variable_kept",
    "variable_not_found", "vault_failed", "vault_refused", "widget_not_found", "widget_refused",
    "workspace_bad_argument", "workspace_edit_not_possible", "workspace_file_not_found", "workspace_file_too_large",
    "workspace_full", "workspace_not_a_text_file", "workspace_path_escapes", "workspace_path_not_portable",
    "workspace_path_reserved", "workspace_pattern_refused", "workspace_read_only", "workspace_unavailable",
    "workspace_user_mismatch", "workspace_user_required",
)
# fmt: on
"""A test compares them with the errors of the packages that run in a step."""


def retry_code_issues(flow: Flow) -> Iterator[Issue]:
    """Yield codes of retries that no error has: the step would not be attempted again."""
    for code in _unknown(flow.settings.retry):
        yield _issue(f"the retries of the flow name the error code '{code}'", code, "")
    for node in flow.nodes:
        for code in _unknown(node.policy.retry):
            yield _issue(f"step '{node.id}' retries the error code '{code}'", code, node.id)


def _unknown(retry: RetryPolicy | None) -> list[str]:
    return [] if retry is None else [code for code in retry.codes if code != ANY_CODE and code not in ERROR_CODES]


def _issue(what: str, code: str, node: str) -> Issue:
    return Issue(
        IssueCode.ERROR_CODE,
        f"{what}, which no error has{did_you_mean(code, ERROR_CODES) or '.'}",
        "Choose a known code, or * for every error.",
        node,
        "retry",
        severity="warning",
    )
