"""Options of the commands that add and change connections."""

from typing import Annotated

import typer

Fields = Annotated[
    list[str] | None,
    typer.Option(
        "--field", "-f", help="NAME=VALUE of a field that is no secret; hosts separated by commas. Repeatable."
    ),
]
Outside = Annotated[
    list[str] | None,
    typer.Option(
        "--from",
        help="NAME=vault:PATH#KEY, NAME=file:PATH or NAME=environment:VARIABLE in place of a secret. Repeatable.",
    ),
]
MaxConcurrent = Annotated[
    int | None, typer.Option("--max-concurrent", help="Steps that may use it at the same time; 0: any number.", min=0)
]
