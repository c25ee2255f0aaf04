"""Dependency of routes that check code."""

from typing import Annotated

from fastapi import Depends, Request

from headgate.features.catalog.own.check import ComponentChecker


def get_checker(request: Request) -> ComponentChecker:
    """Return the checker of this application."""
    checker: ComponentChecker = request.app.state.checker
    return checker


Checker = Annotated[ComponentChecker, Depends(get_checker)]
