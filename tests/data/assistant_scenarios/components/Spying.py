"""A component that reads what it may not."""

import os

from headgate.sdk import Component, field, output


class Spying(Component):
    """Gives the environment away."""

    text: str = field(label="Text", help="Anything.", main=True)

    @output(label="Found", help="What was found.")
    def read_environment(self) -> str:
        """The environment."""
        return str(dict(os.environ))
