import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from headgate.foundation.crypto import SecretBox
from headgate.foundation.errors import Unavailable
from headgate.foundation.keyring import new_ring, secrets_key_id
from headgate.foundation.private_files import KEY_FILE
from headgate.foundation.settings import Settings


def box(folder: Path, key: str | None = None) -> SecretBox:
    return SecretBox(new_ring(Settings(data_dir=folder, secret_key=SecretStr(key) if key else None)))


class TestSecretBox:
    @given(st.text(max_size=200))
    def test_gives_back_what_it_took(self, secret: str) -> None:
        found = box(Path("unused"), KEY)
        assert found.decrypt(found.encrypt(SecretStr(secret))).get_secret_value() == secret

    def test_never_writes_the_secret_itself(self, tmp_path: Path) -> None:
        found = box(tmp_path)
        first, second = (found.encrypt(SecretStr("hunter22")) for _ in range(2))
        assert b"hunter22" not in first
        assert first != second

    def test_keeps_its_key_in_a_file_for_the_owner_only(self, tmp_path: Path) -> None:
        token = box(tmp_path / "new" / "folder").encrypt(SecretStr("x"))
        path = tmp_path / "new" / "folder" / KEY_FILE
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert [entry.name for entry in path.parent.iterdir()] == [KEY_FILE]
        assert box(path.parent).decrypt(token).get_secret_value() == "x"

    def test_prefers_the_key_of_the_environment(self, tmp_path: Path) -> None:
        token = box(tmp_path, KEY).encrypt(SecretStr("x"))
        assert not (tmp_path / KEY_FILE).exists()
        assert Fernet(KEY).decrypt(token.split(b".")[2]) == b"x"

    def test_never_replaces_a_key(self, tmp_path: Path) -> None:
        (tmp_path / KEY_FILE).write_text(KEY)
        box(tmp_path).encrypt(SecretStr("x"))
        assert (tmp_path / KEY_FILE).read_text() == KEY

    def test_agrees_on_one_key_when_many_start_at_once(self, tmp_path: Path) -> None:
        boxes = [box(tmp_path) for _ in range(16)]
        with ThreadPoolExecutor(16) as pool:
            tokens = list(pool.map(lambda found: found.encrypt(SecretStr("x")), boxes))
        last = box(tmp_path)
        assert [last.decrypt(token).get_secret_value() for token in tokens] == ["x"] * 16
        assert [entry.name for entry in tmp_path.iterdir()] == [KEY_FILE]

    def test_says_what_to_do_with_a_secret_of_another_key(self, tmp_path: Path) -> None:
        token = box(tmp_path, KEY).encrypt(SecretStr("hunter22"))
        with pytest.raises(Unavailable) as caught:
            box(tmp_path).decrypt(token)
        assert "HEADGATE_SECRET_KEY" in caught.value.remedy
        assert secrets_key_id(KEY.encode()) in caught.value.detail
        assert "hunter22" not in str(caught.value)

    @pytest.mark.parametrize("token", [b"", b"nonsense", b"\xff\xfe"])
    def test_refuses_what_is_no_token(self, tmp_path: Path, token: bytes) -> None:
        with pytest.raises(Unavailable):
            box(tmp_path).decrypt(token)

    @pytest.mark.parametrize("key", ["short", "not base64 at all!", "x" * 100])
    def test_refuses_a_key_that_is_none(self, tmp_path: Path, key: str) -> None:
        with pytest.raises(Unavailable, match="32 bytes") as caught:
            box(tmp_path, key).encrypt(SecretStr("x"))
        assert key not in str(caught.value)

    def test_names_a_key_file_that_cannot_be_read(self, tmp_path: Path) -> None:
        (tmp_path / KEY_FILE).mkdir()
        with pytest.raises(Unavailable, match=KEY_FILE):
            box(tmp_path).encrypt(SecretStr("x"))

    def test_names_a_folder_that_cannot_be_written(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(Unavailable, match="cannot be created"):
            box(tmp_path / "file").encrypt(SecretStr("x"))

    def test_loads_no_cryptography_until_a_secret_is_touched(self) -> None:
        code = (
            "import sys; from headgate.foundation.crypto import SecretBox;"
            "from headgate.foundation.settings import Settings;"
            "from headgate.foundation.keyring import new_ring; SecretBox(new_ring(Settings()));"
            "sys.exit('cryptography' in sys.modules)"
        )
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


KEY = Fernet.generate_key().decode()
