"""File names safe on every system."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.components.files.file_names import LONGEST, safe_name


class TestSafeName:
    @pytest.mark.parametrize(
        ("name", "safe"),
        [
            ("report.md", "report.md"),
            ("Årsrapport 2024.CSV", "Årsrapport 2024.CSV"),
            ("../../etc/passwd", "etc-passwd"),
            ("a/b\\c:d.txt", "a-b-c-d.txt"),
            ("C:\\temp\\x.txt", "C-temp-x.txt"),
            ("CON.txt", "_CON.txt"),
            ("nul.tar.gz", "_nul.tar.gz"),
            ("lpt1", "_lpt1"),
            ("name. . .", "name"),
            ("  .hidden", "hidden"),
            ("photo\u202egpj.exe", "photogpj.exe"),
            ("a\x00b\nc.txt", "ab c.txt"),
            ("", "result.txt"),
            ("///", "result.txt"),
            ("cafe\u0301.txt", "café.txt"),
        ],
    )
    def test_makes_it_portable(self, name: str, safe: str) -> None:
        assert safe_name(name) == safe

    def test_keeps_the_extension_of_a_long_name(self) -> None:
        assert safe_name("a" * 500 + ".json") == "a" * (LONGEST - 5) + ".json"
        assert len(safe_name("😀" * 500 + ".json").encode()) <= 240

    @given(st.text(st.characters(), max_size=200))
    def test_is_always_safe_and_stays_the_same(self, name: str) -> None:
        safe = safe_name(name)
        assert safe
        assert not set(safe) & set('<>:"/\\|?*\x00\n')
        assert len(safe.encode()) <= 255
        assert safe == safe.strip(" .")
        assert safe_name(safe) == safe
