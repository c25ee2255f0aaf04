import pytest

from headgate.features.accounts.sessions.csrf import matches, token_for
from headgate.features.accounts.sessions.tokens import hash_of, new_token


class TestTokenFor:
    def test_is_the_same_for_one_session_and_another_for_the_next(self) -> None:
        first, second = new_token(), new_token()
        assert token_for(first) == token_for(first) != token_for(second)

    def test_says_nothing_of_the_session(self) -> None:
        session = new_token()
        assert session not in token_for(session)
        assert token_for(session) != hash_of(session)


class TestMatches:
    def test_takes_the_sessions_own_token(self) -> None:
        session = new_token()
        assert matches(session, token_for(session))

    @pytest.mark.parametrize("given", [None, "", "0" * 64, "å" * 64])
    def test_refuses_all_else(self, given: str | None) -> None:
        assert not matches(new_token(), given)

    def test_refuses_the_session_token_itself_and_another_sessions(self) -> None:
        session = new_token()
        assert not matches(session, session)
        assert not matches(session, token_for(new_token()))
        assert not matches(session, token_for(session)[:-1])
