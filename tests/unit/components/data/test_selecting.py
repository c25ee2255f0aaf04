"""JMESPath, bounded."""

import pytest

from headgate.components.data import selecting
from headgate.components.data.selecting import select
from headgate.sdk import ComponentError

SHOP = {"items": [{"name": "pen", "price": 2}, {"name": "bok", "price": 12}], "owner": {"förnamn": "Åsa"}}


class TestSelect:
    @pytest.mark.parametrize(
        ("expression", "value"),
        [
            ("items[0].name", "pen"),
            ("items[?price > `10`].name", ["bok"]),
            ("items[].{n: name}", [{"n": "pen"}, {"n": "bok"}]),
            ("sort_by(items, &price)[-1].price", 12),
            ('owner."förnamn"', "Åsa"),
            ("nothing.here", None),
            ("@", SHOP),
            ("items[].[name, price][]", ["pen", 2, "bok", 12]),
            ("items.name", None),
        ],
    )
    def test_picks(self, expression: str, value: object) -> None:
        assert select(expression, SHOP, subject="X") == value  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("expression", "words"),
        [
            ("items[", "failed"),
            ("", "failed"),
            ("owner.förnamn", "double quotes"),
            ("sum(owner)", "failed"),
            ("nope(@)", "Unknown function"),
            ("length(`5`)", "failed"),
            ("a" * 5000, "limit is 4000"),
            ("(" * 1900 + "a" + ")" * 1900, "failed"),
        ],
    )
    def test_says_what_is_wrong(self, expression: str, words: str) -> None:
        with pytest.raises(ComponentError, match=words) as caught:
            select(expression, SHOP, subject="SelectData")  # type: ignore[arg-type]
        assert str(caught.value).startswith("SelectData: ")

    @pytest.mark.parametrize(
        "expression",
        [
            "|".join(["[@,@]"] * 60),
            "|".join(["[@,@][]"] * 60),
            "|".join(["[@,@]"] * 20) + " | to_string(@)",
            "[" + ",".join(["@"] * 100) + "]|[" + ",".join(["@[]"] * 100) + "][]|[" + ",".join(["@"] * 100) + "][]",
        ],
    )
    def test_stops_what_multiplies(self, expression: str) -> None:
        with pytest.raises(ComponentError, match="more than"):
            select(expression, list(range(1000)), subject="X")

    def test_stops_in_time(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(selecting, "SECONDS", 0.0)
        with pytest.raises(ComponentError, match="more than 0 seconds"):
            select("[*].a.b.c", [{}] * 100, subject="X")
