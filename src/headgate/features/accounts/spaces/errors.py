"""What can go wrong with spaces and their members."""

from headgate.foundation.errors import Conflict


class SpaceNameTaken(Conflict):
    """The tenant has a space of that name."""

    code = "space_name_taken"
    title = "Name taken"

    def __init__(self, name: str) -> None:
        super().__init__(f"There is a space called '{name}' already.", remedy="Choose another name.")
