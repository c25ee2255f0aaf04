import { Link } from "@tanstack/react-router";
import type { RunOut, StartedRunsOut } from "@/api/types";
import type { DrawnNode } from "@/components/flow-drawing/geometry";
import { startedWords, useStartedRunsTexts } from "@/components/started-runs";
import { cx } from "@/components/ui";
import { duration } from "@/lib/i18n/format";
import { useCanvasTexts } from "../texts";
import { useRegionTexts } from "./texts";

interface Props {
  height: number;
  /** Number of steps of the flow; null before it is read. */
  steps: number | null;
  selected: DrawnNode | undefined;
  counts: StartedRunsOut | undefined;
  run: RunOut | undefined;
}

/** How the runs of a node stand, or what the chosen step did; without a run how many steps there are. */
export function RegionState({ height, steps, selected, counts, run }: Props) {
  const t = useRegionTexts();
  const said = useCanvasTexts();
  const started = useStartedRunsTexts();
  const step = run?.steps.find((one) => one.step_id === selected?.id);
  const failure = step?.error?.message ?? (selected ? "" : (run?.error?.message ?? ""));
  const words = selected
    ? [selected.title, step ? said(`state_${step.status}`) : selected.kind, step?.ms != null && duration(step.ms)]
    : [counts ? startedWords(counts, started) : steps !== null && t("steps", { count: steps })];
  return (
    <footer
      className="nopan flex shrink-0 items-center gap-2 border-line border-t px-3 text-muted text-xs"
      style={{ height }}
    >
      <span role="status" className="min-w-0 flex-1 truncate" title={failure || undefined}>
        {words.filter(Boolean).join(" · ")}
        {failure && <span className={cx("text-bad", words.length > 0 && "ml-2")}>{failure}</span>}
      </span>
      {run && (
        <Link
          to="/flows/$flowId/runs/$runId"
          params={{ flowId: run.flow_id, runId: run.id }}
          className="shrink-0 rounded-sm font-medium text-accent hover:underline"
        >
          {t("open_run")}
        </Link>
      )}
    </footer>
  );
}
