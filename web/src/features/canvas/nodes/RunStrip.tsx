import { memo } from "react";
import { cx } from "@/components/ui";
import { staleIn, useDraft } from "@/lib/draft";
import { duration } from "@/lib/i18n/format";
import { inWords } from "../model/inWords";
import { useCanvasTexts } from "../texts";

const LOOKS: Record<string, string> = {
  running: "text-info",
  waiting: "text-info",
  completed: "text-ok",
  failed: "text-bad",
  cancelled: "text-warn",
};

/** How a node fared in the run that is shown, hung below it: it takes no room from the node itself. */
export const RunStrip = memo(function RunStrip({ id }: { id: string }) {
  const t = useCanvasTexts();
  const run = useDraft((state) => state.nodeRuns[id]);
  const stale = useDraft((state) => staleIn(state).has(id));
  if (!run || run.status === "pending") return null;
  const continued = run.status === "completed" && run.error !== "";
  const ended = run.status === "completed" ? duration(run.ms) : t(`state_${run.status}`);
  const state = continued ? t("continued") : ended;
  const words = run.error || run.progress || inWords(run.preview);
  return (
    <div
      className={cx(
        "-bottom-6 absolute inset-x-2 flex h-5.5 items-center gap-1.5 text-xs",
        stale ? "text-faint" : continued ? "text-warn" : (LOOKS[run.status] ?? "text-faint"),
      )}
      title={(stale ? t("outdated_more") : words) || undefined}
    >
      <span
        aria-hidden
        className={cx("size-1.5 shrink-0 rounded-full bg-current", run.status === "running" && "animate-pulse")}
      />
      <span className="shrink-0 font-medium">{stale ? t("outdated") : state}</span>
      {words && <span className="min-w-0 truncate text-muted">{words}</span>}
    </div>
  );
});
