"""Metrics and log events of the assistant, one function per event (seed 000 section 7, seed 001 section 7).

`turn.metrics` is an instance. No metric label contains a user, a flow or a session; log entries
contain ids only. Texts of users and models are never logged, only their length.
"""

from collections import Counter
from dataclasses import dataclass, field

from headgate.foundation.log import get_logger
from headgate.foundation.telemetry import Instruments

log = get_logger("headgate.agents.assistant")
_LONGEST_ERROR = 300
_LONGEST_SNIPPET = 200


@dataclass(slots=True)
class AssistantMetrics:
    """Counts into the instruments of the process and logs; silent instruments count nothing."""

    instruments: Instruments = field(default_factory=Instruments)
    _validations: Counter[str] = field(default_factory=Counter)
    _turns: int = 0

    # -- the request ---------------------------------------------------------------------------------------------

    def request_started(self, *, user_id: str, flow_id: str, provider: str, model_name: str, intent: str) -> None:
        """Record the intent and the answering model of a request."""
        count = self.instruments.count
        count("assistant_requests_by_intent", intent)
        count("assistant_provider_usage", provider)
        if intent == "build_flow":
            count("assistant_intent_build_flow")
        log.info(
            "assistant.request.started",
            user_id=user_id,
            flow_id=flow_id,
            provider=provider,
            model_name=model_name,
            intent=intent,
        )

    def intent_classified(self, intent: str, session_id: str | None) -> None:
        """A request was taken for something."""
        log.info("assistant.intent.classified", intent=intent, session_id=session_id)

    def request_completed(self, *, intent: str, seconds: float, validated: bool, attempts: int) -> None:
        """A turn ended well."""
        self.instruments.observe("assistant_generation_duration_seconds", seconds, intent)
        log.info(
            "assistant.request.completed", duration_ms=round(seconds * 1000), validated=validated, attempts=attempts
        )

    def request_cancelled(self, reason: str, seconds: float) -> None:
        """A turn was stopped: `client_gone`, `stopped` or `shutdown`."""
        self.instruments.count("assistant_cancellations", reason)
        log.info("assistant.request.cancelled", reason=reason, duration_ms=round(seconds * 1000))

    def request_failed(self, code: str, message: str, *, where: str) -> None:
        """Record an error of a turn; `where` is its intent, or the stage before that was known."""
        self.instruments.count("assistant_errors", code)
        log.error("assistant.flow.error", error_type=code, error_message=message[:_LONGEST_ERROR], flow_name=where)

    def turns_at_work(self, change: int) -> None:
        """A turn began (+1) or ended (-1)."""
        self._turns += change
        if change > 0:
            self.instruments.count("assistant_requests")
        self.instruments.gauge("assistant_turns", self._turns)

    # -- models --------------------------------------------------------------------------------------------------

    def tokens_spent(
        self, phase: str, input_tokens: int, output_tokens: int, *, user_id: str, session_id: str | None
    ) -> None:
        """A phase of a turn used tokens: `intent`, `main`, `generation` ..."""
        self.instruments.count("assistant_tokens", phase, "input", amount=input_tokens)
        self.instruments.count("assistant_tokens", phase, "output", amount=output_tokens)
        log.info(
            "assistant.tokens.phase",
            phase=phase,
            user_id=user_id,
            session_id=session_id,
            input=input_tokens,
            output=output_tokens,
            total=input_tokens + output_tokens,
        )

    def model_fell_back(self, old: str, new: str, *, provider: str, tried: list[str]) -> None:
        """Record that a provider refused a model and another one is called."""
        self.instruments.count("assistant_model_fallbacks", provider)
        log.warning("assistant.model_fallback", **{"from": old}, to=new, provider=provider, tried_so_far=tried)

    # -- generated components ------------------------------------------------------------------------------------

    def generation_attempt(self, attempt: int, max_retries: int) -> None:
        """Record an attempt to generate a component."""
        log.info("assistant.generation.attempt", attempt=attempt, max_retries=max_retries)

    def validation_succeeded(self, class_name: str, attempts: int) -> None:
        """A generated component passed its checks."""
        self._validated(attempts, first=attempts == 1)
        log.info("assistant.validation.success", class_name=class_name, attempts=attempts)

    def validation_failed(self, error: str, attempt: int, class_name: str = "") -> None:
        """Record that a generated component failed its checks and is requested again."""
        log.warning("assistant.validation.failed", error=error[:_LONGEST_ERROR], attempt=attempt, class_name=class_name)

    def validation_exhausted(self, error: str, attempts: int, code: str = "") -> None:
        """No attempt passed."""
        self._validated(attempts, first=False)
        log.error(
            "assistant.validation.exhausted",
            error=error[:_LONGEST_ERROR],
            attempts=attempts,
            code_snippet=code[:_LONGEST_SNIPPET],
        )

    def _validated(self, attempts: int, *, first: bool) -> None:
        self._validations.update(["all", "first"] if first else ["all"])
        self.instruments.observe("assistant_validation_attempts", attempts)
        rate = 100 * self._validations["first"] / self._validations["all"]
        self.instruments.gauge("assistant_validation_success_rate", rate)

    def component_registered(self) -> None:
        """Record that a component was stored for a user."""
        self.instruments.count("assistant_user_component_registered")

    def component_refused(self, reason: str) -> None:
        """Record that a component was not stored.

        Reasons: `anonymous_user`, `empty_class_name`, `length_exceeded`, `unsafe_class_name`, `oversize_code`.
        """
        self.instruments.count("assistant_user_component_register_refused", reason)

    def overlay_read(self, entries: int) -> None:
        """Record how many of the user's own components a request sees."""
        self.instruments.observe("assistant_user_component_overlay_entries", entries)

    def overlay_skipped(self, reason: str) -> None:
        """A file of a component was passed over: `parse_error`, `oversize`, `unsafe_name`, `read_error`."""
        self.instruments.count("assistant_user_component_overlay_skipped", reason)

    def session_reset(self, components_cleared: int) -> None:
        """Record that a conversation was reset."""
        self.instruments.count("assistant_session_reset")
        self.instruments.count("assistant_session_reset_components_cleared", amount=components_cleared)

    # -- tools and flows -----------------------------------------------------------------------------------------

    def tool_called(self, tool: str, *, ok: bool, milliseconds: float, error: str = "") -> None:
        """Record a tool result."""
        self.instruments.count("mcp_tool_invocations", tool, "true" if ok else "false")
        self.instruments.observe("mcp_tool_duration_ms", milliseconds, tool)
        log.info("flow_builder.tool.invoked", tool_name=tool)
        if not ok:
            log.error("flow_builder.tool.failed", tool_name=tool, error=error[:_LONGEST_ERROR])

    def action_emitted(self, action: str, *, nodes: int, edges: int) -> None:
        """The working flow changed, or a change was proposed."""
        self.instruments.count("assistant_flow_update_events", action)
        log.info("flow_builder.action.emitted", action=action, node_count=nodes, edge_count=edges)

    def orphan_rejected(self, node_ids: list[str]) -> None:
        """A flow text was refused because a node in it is loose."""
        self.instruments.count("assistant_flow_orphan_rejection")
        log.error("flow_builder.spec.orphan", orphan_node_ids=node_ids)

    def unsafe_code_blocked(self, node_ids: list[str]) -> None:
        """A run was refused for code that the sandbox would refuse."""
        log.warning("assistant.run_flow.blocked_unsafe_code", node_ids=node_ids)

    def proposal_ready(self, *, attempt: int, nodes: int, edges: int) -> None:
        """Record that a flow waits for a user's review."""
        self.instruments.count("assistant_flow_proposal_ready")
        log.info("flow_builder.proposal.ready", attempt=attempt, node_count=nodes, edge_count=edges)

    def text_fallback(self) -> None:
        """Record that the model wrote a flow into its answer instead of calling a tool."""
        log.warning("flow_builder.text_fallback")

    def build_tasks(self, count: int) -> None:
        """So many changes of the flow were made in one turn."""
        self.instruments.observe("assistant_build_tasks_per_message", count)

    def working_flow_reset(self, session_id: str | None) -> None:
        """A turn is over and its working flow is dropped."""
        log.info("flow_builder.working_flow.reset", session_id=session_id)

    def plan_proposed(self, session_id: str | None, length: int, *, replan: bool) -> None:
        """Record that a plan waits for a user; `replan` when the request refined an earlier one."""
        self.instruments.count("assistant_plan_proposal")
        log.info("assistant.plan.proposed", session_id=session_id, markdown_length=length)
        if replan:
            self.instruments.count("assistant_plan_replan")
            log.info("assistant.plan.replan", session_id=session_id)

    def plan_approved(self) -> None:
        """Record that a user approved a plan."""
        self.instruments.count("assistant_plan_continue")

    def plan_refined(self, session_id: str | None, *, plan_length: int, request_length: int) -> None:
        """Record that a user requested changes to a plan."""
        self.instruments.count("assistant_plan_refinement_send")
        log.info(
            "assistant.plan.refining.send",
            session_id=session_id,
            stash_length=plan_length,
            refinement_length=request_length,
        )

    def cache_hit(self, tool: str, key_hash: str = "") -> None:
        """Record a hit of the turn's cache."""
        self.instruments.count("assistant_tool_cache_hit", tool)
        log.info("assistant.tool_cache.hit", tool=tool, key_hash=key_hash[:12])

    def cache_miss(self, tool: str) -> None:
        """Record a miss of the turn's cache."""
        self.instruments.count("assistant_tool_cache_miss", tool)
        log.info("assistant.tool_cache.miss", tool=tool)

    def cache_evicted(self) -> None:
        """Record an eviction from a turn's cache."""
        self.instruments.count("assistant_tool_cache_eviction")

    # -- memory --------------------------------------------------------------------------------------------------

    def turn_recorded(self, session_id: str, index: int, user_length: int, assistant_length: int) -> None:
        """A turn was remembered."""
        self.instruments.count("assistant_conversation_buffer_turn_recorded")
        log.info(
            "assistant.conversation_buffer.turn_recorded",
            session_id=session_id,
            turn_index=index,
            user_length=user_length,
            assistant_length=assistant_length,
        )

    def turn_skipped(self, reason: str) -> None:
        """A turn was not remembered: `anonymous_session` or `empty_response`."""
        self.instruments.count("assistant_conversation_buffer_turn_skipped", reason)

    def session_evicted(self, session_id: str, sessions: int) -> None:
        """A conversation was forgotten for a newer one."""
        self.instruments.count("assistant_conversation_buffer_session_evicted")
        log.info(
            "assistant.conversation_buffer.session_evicted",
            evicted_session_id=session_id,
            current_session_count=sessions,
        )

    def sessions_remembered(self, sessions: int) -> None:
        """So many conversations are remembered."""
        self.instruments.gauge("assistant_conversation_buffer_sessions", sessions)
