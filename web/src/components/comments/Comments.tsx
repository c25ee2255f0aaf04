import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { commentsQuery } from "@/api/queries/comments";
import { useRights } from "@/api/rights";
import { Problem, Skeleton } from "@/components/ui";
import { useDraft, useDraftStore } from "@/lib/draft";
import { CommentEntry } from "./CommentEntry";
import { CommentForm } from "./CommentForm";
import { useCommentTexts } from "./texts";
import { useCommentActions } from "./useCommentActions";

interface CommentsProps {
  /** The comments on this node; null: on the flow and on all of its nodes. */
  nodeId: string | null;
}

/** Comments with a field to add one; resolved ones are shown on request. */
export function Comments({ nodeId }: CommentsProps) {
  const t = useCommentTexts();
  const flowId = useDraft((state) => state.flowId);
  const spaceId = useDraft((state) => state.spaceId);
  const store = useDraftStore();
  const { may } = useRights();
  const { data, error, refetch } = useQuery(commentsQuery(flowId));
  const act = useCommentActions(flowId);
  const [all, setAll] = useState(false);
  const here = data?.filter((comment) => nodeId === null || comment.node_id === nodeId) ?? [];
  const resolved = here.filter((comment) => comment.resolved_at !== null).length;
  const shown = all ? here : here.filter((comment) => comment.resolved_at === null);
  const placeOf = (id: string | null) => {
    if (nodeId !== null || !id) return {};
    const node = store.getState().document.nodes[id];
    if (!node) return { place: t("deleted_node") };
    return { place: node.label || node.id, onPlace: () => store.getState().focusNode(id) };
  };
  return (
    <div className="flex flex-col gap-3">
      {error && <Problem error={error} retry={() => void refetch()} />}
      {!data && !error && <Skeleton className="h-16" />}
      {data && shown.length === 0 && <p className="text-muted text-sm">{t("none")}</p>}
      <ul aria-label={t("comments")} className="flex flex-col gap-2">
        {shown.map((comment) => (
          <CommentEntry key={comment.id} comment={comment} act={act} {...placeOf(comment.node_id)} />
        ))}
      </ul>
      {resolved > 0 && (
        <button type="button" onClick={() => setAll(!all)} className="self-start text-accent text-sm hover:underline">
          {all ? t("hide_resolved") : t("show_resolved", { count: resolved })}
        </button>
      )}
      {may("flows.comment", spaceId) && (
        <CommentForm action={t("send")} busy={act.busy} onSend={(text, mentions) => act.add(text, mentions, nodeId)} />
      )}
    </div>
  );
}
