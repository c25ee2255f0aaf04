import pytest

from headgate.features.accounts.passwords.rules import LONGEST, PasswordRefused, check_password

OWN = ("anna.berg@example.org", "Anna Bergström")


class TestCheckPassword:
    @pytest.mark.parametrize(
        "password",
        [
            "correct horse battery",
            "åäö ÅÄÖ 日本語 ключ",
            "            x  y z ! ",
            "tolv tecken!",
            "annat är bättre än anna",
            "x7" * 3 + "fjorton steg",
            "k" + "abcdefghijkl" + "ryssland på vintern",
        ],
    )
    def test_takes_any_long_words(self, password: str) -> None:
        check_password(password, own_words=OWN)

    @pytest.mark.parametrize(
        "password",
        [
            "",
            "short",
            "elva tecken",
            "x" * (LONGEST + 1),
            "password1234",
            "PassWord1234",
            "qwerty123456",
            "aaaaaaaaaaaa",
            "abcabcabcabcabc",
            "Sommar Sommar ",
            "abcdefghijklm",
            "mlkjihgfedcba",
            "1234567890123",
            "Headgate2026!",
            "headgate12345",
            "anna.berg@example.org",
            "ANNA.BERG@example.org1",
            "anna.berg1234",
            "Anna Bergström",
            "annabergström1",
            "  anna bergström 2026",
        ],
    )
    def test_refuses_what_others_would_guess(self, password: str) -> None:
        with pytest.raises(PasswordRefused):
            check_password(password, own_words=OWN)

    def test_counts_letters_as_they_are_normalized(self) -> None:
        decomposed = "a\u030a" * 6 + "bcdefh"
        assert len(decomposed) > 12
        check_password(decomposed)
        with pytest.raises(PasswordRefused, match="at least 12"):
            check_password("a\u030ab\u0308" + "o\u0308" * 4)

    def test_never_repeats_the_password(self) -> None:
        with pytest.raises(PasswordRefused) as refused:
            check_password("Headgate2026!")
        assert "2026" not in str(refused.value.problem())

    def test_has_room_for_people_without_a_name_or_address(self) -> None:
        check_password("correct horse battery", own_words=("", ""))
