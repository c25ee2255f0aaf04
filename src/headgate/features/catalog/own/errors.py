"""What keeps own code from becoming a component."""

from headgate.foundation.errors import Invalid


class ComponentNotMade(Invalid):
    """Code did not pass its checks; `findings` in `extra` holds every fault with its line."""

    code = "component_not_made"
    title = "Component not made"
