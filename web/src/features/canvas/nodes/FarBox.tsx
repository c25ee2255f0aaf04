import { memo } from "react";
import { cx } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import { issuesOf } from "../model/issues";
import { useView } from "../model/view";

const TINTS: Record<string, string> = {
  running: "bg-info-soft border-info",
  completed: "bg-ok-soft border-ok",
  failed: "bg-bad-soft border-bad",
  skipped: "bg-sunken border-line",
};

/** A node seen from afar: a box with a name that can still be read, and nothing else to draw. */
export const FarBox = memo(function FarBox({ id, selected }: { id: string; selected: boolean }) {
  const name = useDraft((state) => {
    const node = state.document.nodes[id];
    return node?.label || state.templates[node?.type ?? ""]?.label || node?.type || "";
  });
  const status = useDraft((state) => state.nodeRuns[id]?.status);
  const wrong = useDraft((state) => issuesOf(state.issues, id).length > 0);
  const fresh = useView((state) => state.fresh.has(id));
  return (
    <div
      className={cx(
        "flex size-full items-center overflow-hidden border-2 px-4 font-medium text-3xl text-ink",
        (status && TINTS[status]) || (wrong ? "border-bad bg-surface" : "border-line-strong bg-surface"),
        selected && "card-selected",
        fresh && "card-fresh",
      )}
    >
      <span className="truncate">{name}</span>
    </div>
  );
});
