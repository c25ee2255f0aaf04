export { Comments } from "./Comments";
export { useCommentCounts } from "./useCommentCounts";
