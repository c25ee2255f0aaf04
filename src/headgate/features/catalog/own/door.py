"""What routes get of the application to check code."""

from typing import Annotated

from fastapi import Depends, Request

from headgate.features.catalog.own.check import ComponentChecker


def get_checker(request: Request) -> ComponentChecker:
    """The checker of this application."""
    found: ComponentChecker = request.app.state.checker
    return found


Checker = Annotated[ComponentChecker, Depends(get_checker)]
