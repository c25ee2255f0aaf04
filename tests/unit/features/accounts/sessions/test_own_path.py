"""Where somebody may be sent after signing in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.features.accounts.sessions.own_path import HOME, own_path


class TestOwnPath:
    @pytest.mark.parametrize("path", ["/", "/flows", "/flows/1?tab=runs&x=%2F%2Fevil#step", "/a/../b", "/@x", "/a:b"])
    def test_keeps_a_path_of_this_site(self, path: str) -> None:
        assert own_path(path) == path

    @pytest.mark.parametrize(
        "path",
        [
            "",
            "flows",
            "//evil.example",
            "///evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "https://evil.example/",
            "javascript:alert(1)",
            "/\t/evil.example",
            "/\n/evil.example",
            " //evil.example",
            "/flows\r\nSet-Cookie: x=1",
            "/é",
            "/" + "x" * 1000,
        ],
    )
    def test_sends_everything_else_home(self, path: str) -> None:
        assert own_path(path) == HOME

    @given(st.text(alphabet="/\\.:@?# \t\nevil%2F", max_size=12))
    def test_never_leaves_the_site(self, path: str) -> None:
        """As the URL Standard reads it: backslashes are slashes, tabs and line breaks are nothing."""
        found = own_path(path)
        read = "".join(letter for letter in found if letter not in "\t\n\r").replace("\\", "/")
        assert read.startswith("/")
        assert not read.startswith("//")
