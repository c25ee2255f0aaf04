import re
from importlib.resources import files

import pytest

from headgate.entrypoints.http.pages.texts import ENGLISH, LANGUAGES, texts_for


class TestTexts:
    def test_are_there_in_every_language(self) -> None:
        for name, texts in LANGUAGES.items():
            assert texts.keys() == ENGLISH.keys()
            assert texts["lang"] == name
            assert all(texts.values())

    def test_are_all_used(self) -> None:
        folder = files("headgate.entrypoints.http.pages")
        pages = "".join((folder / name).read_text() for name in ("sign-in.html", "set-password.html"))
        used = set(re.findall(r"\$([a-z_]+)", pages))
        assert used - ENGLISH.keys() == {"home", "other_way", "other_name", "other_hidden"}
        assert ENGLISH.keys() - used == set()

    def test_of_errors_are_those_that_the_script_names(self) -> None:
        script = (files("headgate.entrypoints.http.pages") / "account.js").read_text()
        named = set(re.findall(r'(?:tell\(|code: )"([a-z_]+)"', script)) | set(re.findall(r"texts\.([a-z_]+)", script))
        assert {f"error_{name}" for name in named} <= ENGLISH.keys()


class TestTextsFor:
    @pytest.mark.parametrize(
        ("asked", "language"),
        [
            ("", "en"),
            ("sv", "sv"),
            ("sv-SE,sv;q=0.9,en;q=0.8", "sv"),
            ("en-GB,en;q=0.9,sv;q=0.8", "en"),
            ("de,sv;q=0.5", "sv"),
            ("de", "en"),
            ("sv;q=0", "en"),
            ("sv;q=x", "en"),
            ("SV", "sv"),
            (";;;,,,q=1", "en"),
            ("*", "en"),
        ],
    )
    def test_goes_by_what_is_asked_for_most(self, asked: str, language: str) -> None:
        assert texts_for(asked)["lang"] == language
