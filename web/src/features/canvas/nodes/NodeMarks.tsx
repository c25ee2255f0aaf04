import { Ban, CircleAlert, Code, MessageSquare, Pin } from "lucide-react";
import { memo } from "react";
import { ClassChip } from "@/components/ui";
import { breakable } from "@/lib/breakpoints";
import { useDraft } from "@/lib/draft";
import { useNodeClass } from "../model/classes";
import { issuesOf, stateOf } from "../model/issues";
import { useCanvasTexts } from "../texts";

/** What there is to know of a node at a glance: its class, own code, a pinned output, what is wrong. */
export const NodeMarks = memo(function NodeMarks({ id }: { id: string }) {
  const t = useCanvasTexts();
  const ownCode = useDraft((state) => Boolean(state.document.nodes[id]?.code));
  const pinned = useDraft((state) => id in state.pinned);
  const stops = useDraft((state) => state.breakpoints.includes(id) && breakable(state, id));
  const comments = useDraft((state) => state.commented[id] ?? 0);
  const disabled = useDraft((state) => state.document.nodes[id]?.policy?.disabled ?? "no");
  const issues = useDraft((state) => issuesOf(state.issues, id));
  const level = useNodeClass(id);
  return (
    <span className="flex shrink-0 items-center gap-1 text-faint [&_svg]:size-3.5">
      {comments > 0 && (
        <span title={t("comments", { count: comments })} className="flex items-center gap-0.5 text-accent text-2xs">
          <MessageSquare role="img" aria-label={t("comments", { count: comments })} />
          <span aria-hidden>{comments}</span>
        </span>
      )}
      {stops && (
        <span
          role="img"
          title={t("breakpoint")}
          aria-label={t("breakpoint")}
          className="size-2.5 rounded-full bg-bad"
        />
      )}
      {pinned && <Pin role="img" aria-label={t("pinned")} className="text-accent" />}
      {disabled !== "no" && (
        <span title={t(`disabled_${disabled}`)}>
          <Ban role="img" aria-label={t(`disabled_${disabled}`)} />
        </span>
      )}
      {ownCode && <Code role="img" aria-label={t("own_code")} />}
      {issues.length > 0 && (
        <span
          title={issues.map((one) => one.message).join("\n")}
          className={stateOf(issues) === "wrong" ? "text-bad" : "text-warn"}
        >
          <CircleAlert role="img" aria-label={t("issues", { count: issues.length })} />
        </span>
      )}
      {level !== null && <ClassChip level={level} />}
    </span>
  );
});
