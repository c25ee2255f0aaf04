"""The state that a session begins with."""

from headgate.agents.codev.state import AgentState


def initial_state(
    session_id: str,
    requirement: str,
    *,
    flow_id: str | None,
    test_trials: int,
    max_iterations: int,
    token_budget: int,
    repairs_approved: bool = False,
) -> AgentState:
    """What is known before the first node: the graph's input."""
    return AgentState(
        session_id=session_id,
        requirement=requirement,
        messages=[{"role": "user", "content": requirement}],
        flow_id=flow_id,
        flow_mark=None,
        repairs_approved=repairs_approved,
        test_trials=test_trials,
        iteration=1,
        max_iterations=max_iterations,
        total_input_tokens=0,
        total_output_tokens=0,
        token_budget=token_budget,
    )
