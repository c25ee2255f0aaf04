import pytest

from headgate.entrypoints.http.pages.routes import HOME, own_path


class TestOwnPath:
    @pytest.mark.parametrize("path", ["/", "/docs", "/flows/1?tab=runs", "/a//b", "/flows?next=https://x.example"])
    def test_leaves_a_path_of_this_server(self, path: str) -> None:
        assert own_path(path) == path

    @pytest.mark.parametrize(
        "path",
        [
            "",
            "docs",
            "//evil.example",
            "///evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "/\tevil",
            "/\n/evil.example",
            "\t//evil.example",
            " //evil.example",
            "https://evil.example",
            "javascript:alert(1)",
            "data:text/html,x",
            "/" + "x" * 2000,
        ],
    )
    def test_leads_nowhere_else(self, path: str) -> None:
        assert own_path(path) == HOME
