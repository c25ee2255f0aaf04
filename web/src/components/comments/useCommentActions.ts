import { useMutation, useQueryClient } from "@tanstack/react-query";
import { addComment, changeComment, commentKeys, deleteComment } from "@/api/queries/comments";
import { toastError } from "@/components/ui";
import { useCommentTexts } from "./texts";

/** Adding, changing and deleting comments on a flow; failures are reported. */
export function useCommentActions(flowId: string) {
  const t = useCommentTexts();
  const client = useQueryClient();
  const work = useMutation({
    mutationFn: (request: () => Promise<unknown>) => request(),
    onError: (error) => toastError(t("failed"), error),
    onSettled: () => client.invalidateQueries({ queryKey: commentKeys.of(flowId) }),
  });
  return {
    busy: work.isPending,
    add: (text: string, mentions: string[], nodeId: string | null) =>
      work.mutate(() => addComment(flowId, { text, mentions, node_id: nodeId })),
    change: (id: string, body: Parameters<typeof changeComment>[2]) =>
      work.mutate(() => changeComment(flowId, id, body)),
    remove: (id: string) => work.mutate(() => deleteComment(flowId, id)),
  };
}
