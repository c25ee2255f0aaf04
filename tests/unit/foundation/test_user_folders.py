"""Folders of the user: the same as those of the library that packages use for them."""

import sys
from pathlib import Path

import pytest
from platformdirs import user_cache_path, user_data_path

from headgate.foundation.user_folders import user_cache_folder, user_data_folder


class TestUserFolders:
    @pytest.mark.parametrize("folder", [None, "", " ", "/elsewhere"])
    def test_are_those_of_the_system(self, monkeypatch: pytest.MonkeyPatch, folder: str | None) -> None:
        for variable in ("XDG_DATA_HOME", "XDG_CACHE_HOME"):
            if folder is None:
                monkeypatch.delenv(variable, raising=False)
            else:
                monkeypatch.setenv(variable, folder)
        assert user_data_folder() == user_data_path("headgate", appauthor=False)
        assert user_cache_folder() == user_cache_path("headgate", appauthor=False)

    def test_are_in_the_library_on_macos(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "platform", "darwin")
        assert user_data_folder() == Path.home() / "Library" / "Application Support" / "headgate"
        assert user_cache_folder() == Path.home() / "Library" / "Caches" / "headgate"

    def test_are_in_the_local_application_data_on_windows(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setattr(sys, "platform", "win32")
        monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
        assert user_data_folder() == tmp_path / "headgate"
        assert user_cache_folder() == tmp_path / "headgate" / "Cache"
