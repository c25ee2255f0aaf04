import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.features.workspace.errors import PathEscapes, PathNotPortable, PathReserved
from headgate.features.workspace.names import MAX_DEPTH, MAX_NAME_BYTES, path_parts, pattern_parts, reserved_segment
from headgate.foundation.errors import HeadgateError


def parts_or_told(path: str) -> tuple[str, ...]:
    """The parts; none where the path is refused, with words that can be sent."""
    try:
        return path_parts(path)
    except HeadgateError as error:
        error.detail.encode()
        return ()


class TestPathParts:
    @pytest.mark.parametrize(
        ("path", "parts"),
        [
            ("", ()),
            (".", ()),
            ("a.md", ("a.md",)),
            ("./docs//plan v2.md", ("docs", "plan v2.md")),
            ("docs/", ("docs",)),
            (".hidden/über.txt", (".hidden", "über.txt")),
            ("components/console.py", ("components", "console.py")),
            ("...a", ("...a",)),
            ("~/x", ("~", "x")),
            ("$HOME/%TEMP%", ("$HOME", "%TEMP%")),
            ("می\u200cخواهم.md", ("می\u200cخواهم.md",)),
            ("a\xa0b", ("a\xa0b",)),
        ],
    )
    def test_are_the_names_of_a_relative_path(self, path: str, parts: tuple[str, ...]) -> None:
        assert path_parts(path) == parts

    @pytest.mark.parametrize(
        "path",
        ["..", "../x", "../../etc/passwd", "a/../../x", "a/..", "/etc/passwd", "/", "//server/share", "C:/Windows",
         "c:x", "\\\\server\\share", "\\etc", "..\\..\\x", "a\\..\\x"],
    )  # fmt: skip
    def test_never_lead_out(self, path: str) -> None:
        with pytest.raises(PathEscapes, match="Path escapes workspace boundary"):
            path_parts(path)

    @pytest.mark.parametrize(
        "path",
        [".lfsig", ".lfsig/x", "a/.lfsig/x", ".LFSIG", ".LfSig", ".lfsig.", ".lfsig ", ".lfs\u200big", "．ｌｆｓｉｇ",
         "․lfsig", ".lfſig", ".lfs\u0131g", ".l\u0301fsig", ".lfsig\ufe0f", "\ufeff.lfsig", "a\\.lfsig\\b", "LFSIG~1"],
    )  # fmt: skip
    def test_never_name_the_signatures(self, path: str) -> None:
        with pytest.raises(PathReserved, match=r"Path component '\.lfsig' is reserved"):
            path_parts(path)

    @pytest.mark.parametrize(
        "path", [".components/SumComponent.py", ".COMPONENTS/a", ".Components", "x/.cOmPoNeNtS", ".compon\u200dents",
                 ".\uff43omponents", "COMPON~1", "compon~12/x", ".components\u00a0", "../.components"],
    )  # fmt: skip
    def test_never_name_the_components(self, path: str) -> None:
        with pytest.raises(PathReserved, match=r"Path component '\.components' is reserved"):
            path_parts(path)

    @pytest.mark.parametrize(
        "name", ["con", "NUL", "nul.txt", "Aux.tar.gz", "COM1", "lpt9.md", "COM¹", "CONIN$", "prn .x"]
    )
    def test_are_no_windows_devices(self, name: str) -> None:
        with pytest.raises(PathNotPortable, match="device"):
            path_parts(f"docs/{name}")

    @pytest.mark.parametrize("letter", [*'<>"|?*:\\\0\n\x1f\x7f\x85\ud800\u202e\u2028\u200b'])
    def test_have_no_letters_that_a_system_refuses(self, letter: str) -> None:
        with pytest.raises(PathNotPortable):
            path_parts(f"docs/a{letter}b")

    @pytest.mark.parametrize("name", ["a.", "a ", "a. .", "..."])
    def test_do_not_end_with_a_dot_or_a_space(self, name: str) -> None:
        with pytest.raises(PathNotPortable, match="ends with"):
            path_parts(f"docs/{name}/b")

    def test_are_bounded(self) -> None:
        assert path_parts("a" * MAX_NAME_BYTES)
        assert len(path_parts("/".join(["a"] * MAX_DEPTH))) == MAX_DEPTH
        for path in ("a" * (MAX_NAME_BYTES + 1), "ü" * 128, "/".join(["a"] * (MAX_DEPTH + 1)), "a/" * 600):
            with pytest.raises(PathNotPortable):
                path_parts(path)

    @given(st.text(st.characters(blacklist_categories=())))
    def test_of_any_text_are_safe_names_or_an_error_that_can_be_told(self, path: str) -> None:
        for name in parts_or_told(path):
            assert name not in {"", ".", ".."}
            assert not set(name) & set('/\\\0:*?"<>|')
            assert reserved_segment(name) is None


class TestPatternParts:
    def test_may_stand_for_names(self) -> None:
        assert pattern_parts("**/*.[mt]?") == ("**", "*.[mt]?")

    @pytest.mark.parametrize(
        ("pattern", "error"),
        [("../*", PathEscapes), ("/etc/*", PathEscapes), (".components/*", PathReserved), ("a\0b", PathNotPortable)],
    )
    def test_keep_the_rules_of_paths(self, pattern: str, error: type[Exception]) -> None:
        with pytest.raises(error):
            pattern_parts(pattern)
