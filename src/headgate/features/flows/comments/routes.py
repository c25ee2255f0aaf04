"""HTTP routes of comments."""

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.flows.comments import service
from headgate.features.flows.comments.schemas import CommentIn, CommentList, CommentOut, CommentPatch
from headgate.foundation.api import ReadSession, Routes, WriteSession

router = Routes(prefix="/flows/{flow_id}/comments", tags=["flows"])
_VIEW, _COMMENT = [needs(Permission.FLOWS_VIEW)], [needs(Permission.FLOWS_COMMENT)]


@router.get("", "List comments", _VIEW, problems=(404,))
async def list_(flow_id: str, session: ReadSession, caller: Caller) -> CommentList:
    """List the comments on a flow and its nodes, oldest first."""
    return CommentList(items=await service.list_comments(session, caller, flow_id))


@router.post("", "Add a comment", _COMMENT, status_code=201, problems=(403, 404))
async def add(flow_id: str, body: CommentIn, session: WriteSession, caller: Caller) -> CommentOut:
    """Comment on a flow or on one of its nodes. Members of the space can be mentioned."""
    return await service.add_comment(session, caller, flow_id, body)


@router.patch("/{comment_id}", "Change a comment", _COMMENT, problems=(403, 404))
async def change(
    flow_id: str, comment_id: str, body: CommentPatch, session: WriteSession, caller: Caller
) -> CommentOut:
    """Change the text and mentions of your comment, or resolve and reopen any comment."""
    return await service.change_comment(session, caller, flow_id, comment_id, body)


@router.delete("/{comment_id}", "Delete a comment", _COMMENT, problems=(403, 404))
async def delete(flow_id: str, comment_id: str, session: WriteSession, caller: Caller) -> None:
    """Delete your comment. Users who manage the space can delete any."""
    await service.delete_comment(session, caller, flow_id, comment_id)
