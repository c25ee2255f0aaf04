from dataclasses import fields
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from headgate.sandbox.guest.policy import Policy

values: dict[Any, st.SearchStrategy[Any]] = {
    bool: st.booleans(),
    int: st.integers(0, 2**62),
    str: st.text(max_size=30),
    tuple[str, ...]: st.lists(st.text(max_size=30), max_size=4).map(tuple),
}
policies = st.builds(Policy, **{field.name: values[field.type] for field in fields(Policy)})


class TestPolicy:
    @given(policy=policies)
    def test_comes_back_from_json_as_it_was(self, policy: Policy) -> None:
        line = policy.to_json()
        assert b"\n" not in line
        assert Policy.from_json(line) == policy
