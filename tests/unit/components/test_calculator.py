"""Arithmetic, and everything that is not."""

import contextlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.components.arithmetic import evaluate
from headgate.components.calculator import Calculator
from headgate.sdk import ComponentError
from headgate.sdk.testing import StepHarness


class TestEvaluate:
    @pytest.mark.parametrize(
        ("expression", "value"),
        [
            ("1 + 2 * 3", 7),
            ("(1 + 2) * -3", -9),
            ("7 / 2", 3.5),
            ("6 / 2", 3),
            ("7 // 2 + 7 % 4", 6),
            ("2 ** 10", 1024),
            ("2^10", 1024),
            ("-2 ** 2", -4),
            ("2 ** -1", 0.5),
            ("0.1 + 0.2", 0.3),
            ("1e3", 1000),
            ("10 × 3 ÷ 4 − 1", 6.5),
            ("round(2 / 3, 2)", 0.67),
            ("sqrt(16) + abs(-3)", 7),
            ("max(1, 5, 3) - min([4, 2])", 3),
            ("sum([1, 2, 3]) + avg(2, 4)", 9),
            ("floor(2.9) + ceil(2.1)", 5),
            ("log(e) + log10(1000) + exp(0)", 5),
            ("2 * pi", 6.28318530717959),
            ("2 ** 100", 2**100),
            ("round(5, -10**9) + round(1234, -2) + round(1.5, 10**9)", 1201.5),
        ],
    )
    def test_computes(self, expression: str, value: float) -> None:
        assert evaluate(expression) == value

    @pytest.mark.parametrize(
        ("expression", "words"),
        [
            ("1 / 0", "divides by zero"),
            ("", "is not an arithmetic expression"),
            ("1 +", "is not an arithmetic expression"),
            ("2 < 3", "is not an arithmetic expression"),
            ("'a' * 9", "is not an arithmetic expression"),
            ("True + 1", "is not an arithmetic expression"),
            ("1j * 1j", "is not an arithmetic expression"),
            ("x + 1", "'x' is not a number"),
            ("sqr(4)", "no function 'sqr'; did you mean 'sqrt'"),
            ("1,234.5", "thousands separators"),
            ("9 ** 9 ** 9", "too large a number"),
            ("10 ** 5000", "too large a number"),
            ("1e308 * 10", "not finite"),
            ("exp(1000)", "too large a number"),
            ("(-8) ** 0.5", "not a real number"),
            ("sqrt(-1)", "cannot be computed"),
            ("sqrt(1, 2)", "cannot be computed"),
            ("sum()", "needs numbers"),
            ("round(2.5, ndigits=1)", "is not an arithmetic expression"),
            ("__import__('os').system('x')", "is not an arithmetic expression"),
            ("().__class__", "is not an arithmetic expression"),
            ("[x for x in (1,2)]", "is not an arithmetic expression"),
            ("(lambda: 1)()", "is not an arithmetic expression"),
            ("abs.__call__(1)", "is not an arithmetic expression"),
            ("1" * 1999, "bits"),
            ("(" * 250 + "1" + ")" * 250, "not an arithmetic expression|cannot be computed"),
            ("-" * 400 + "1", "nested"),
            ("1" + "+1" * 990, "nested"),
            ("1" * 2001, "the limit is 2000"),
            ("\x00", "not an arithmetic expression|cannot be computed"),
        ],
    )
    def test_refuses(self, expression: str, words: str) -> None:
        with pytest.raises(ComponentError, match=words):
            evaluate(expression)

    @given(st.text(st.sampled_from("0123456789.+-*/%()e ,^sqrtmax[]"), max_size=40))
    def test_gives_a_finite_number_or_a_clear_error(self, expression: str) -> None:
        value: float = 0
        with contextlib.suppress(ComponentError):
            value = evaluate(expression)
        assert isinstance(value, int) or math.isfinite(value)

    @given(st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6))
    def test_agrees_with_python(self, a: int, b: int) -> None:
        assert evaluate(f"{a} + {b} * ({a} - {b})") == a + b * (a - b)


class TestCalculator:
    async def test_gives_number_and_text(self) -> None:
        assert await StepHarness().run(Calculator, {"expression": "1/4"}) == {"result": 0.25, "text": "0.25"}

    async def test_keeps_large_whole_numbers_exact_in_text(self) -> None:
        outputs = await StepHarness().run(Calculator, {"expression": "2**100 + 1"})
        assert outputs == {"result": float(2**100), "text": str(2**100 + 1)}
