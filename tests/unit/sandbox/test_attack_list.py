from tests.integration.sandbox.attacks import ATTACKS


class TestAttacks:
    def test_are_many_and_each_is_named(self) -> None:
        assert len({attack.name for attack in ATTACKS}) == len(ATTACKS) >= 150

    def test_are_proved_real_where_they_can_be(self) -> None:
        assert sum(attack.escapes_outside for attack in ATTACKS) >= 40
