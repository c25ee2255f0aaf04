"""A key source of given values."""

from pydantic import SecretStr


class GivenKeys:
    """Serves what it was given and remembers what was asked for."""

    def __init__(self, **values: str) -> None:
        self._values = values
        self.asked: list[str] = []

    async def key(self, name: str) -> SecretStr | None:
        self.asked.append(name)
        value = self._values.get(name)
        return SecretStr(value) if value is not None else None
