import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { commentsQuery } from "@/api/queries/comments";
import { useDraft, useDraftStore } from "@/lib/draft";

/** Shows on the nodes of the open flow how many comments on them are not resolved. */
export function useCommentCounts(): void {
  const store = useDraftStore();
  const flowId = useDraft((state) => state.flowId);
  const { data } = useQuery(commentsQuery(flowId));
  useEffect(() => {
    const counts: Record<string, number> = {};
    for (const { node_id, resolved_at } of data ?? []) {
      if (node_id && resolved_at === null) counts[node_id] = (counts[node_id] ?? 0) + 1;
    }
    store.setState({ commented: counts });
  }, [store, data]);
}
