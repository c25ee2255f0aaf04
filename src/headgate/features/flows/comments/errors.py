"""Errors of comments."""

from headgate.foundation.errors import Forbidden, Invalid, NotFound


class CommentNotFound(NotFound):
    """No such comment on this flow."""

    code = "comment_not_found"

    def __init__(self, comment_id: str) -> None:
        super().__init__(f"There is no comment '{comment_id[:64]}' on this flow.", remedy="List the comments.")


class NotTheAuthor(Forbidden):
    """The comment is somebody else's."""

    code = "not_the_author"
    title = "Only the author can change this comment"
    detail = "The comment was written by another user."
    remedy = "Write a comment yourself. Users who manage the space can delete it."


class TooManyComments(Invalid):
    """The flow has the maximum number of comments."""

    code = "too_many_comments"

    def __init__(self, most: int) -> None:
        super().__init__(f"A flow has at most {most} comments.", remedy="Delete comments that are resolved.")
