import { useEffect } from "react";
import { startedWords, useStartedRunsTexts } from "@/components/started-runs";
import { type NodeRun, useDraftStore } from "@/lib/draft";
import { shortened } from "@/lib/shortened";
import type { LiveRun, LiveStep } from "../model/live";

const LONGEST = 280;

/** Shows a run on the nodes of the canvas: states, times, what was given. */
export function useCanvasFeed(live: LiveRun | null): void {
  const store = useDraftStore();
  const t = useStartedRunsTexts();
  useEffect(() => {
    if (!live) return;
    const { nodeRuns, shownRun } = store.getState();
    const next = Object.fromEntries(
      Object.values(live.steps).map((step) => [step.id, kept(nodeRuns[step.id], nodeRun(step, t))]),
    );
    const same =
      shownRun?.id === live.id &&
      shownRun.status === live.status &&
      Object.keys(next).every((id) => next[id] === nodeRuns[id]);
    if (!same) store.getState().showRun({ id: live.id, status: live.status }, next);
  }, [live, store, t]);
}

function nodeRun(step: LiveStep, t: ReturnType<typeof useStartedRunsTexts>): NodeRun {
  const preview = step.status === "running" ? step.preview.slice(-LONGEST) : shortened(step.preview, LONGEST);
  const { status, tokens, error, items } = step;
  const active = step.status === "waiting" || step.status === "running";
  const progress = active && step.below && step.started ? startedWords(step.started, t) : "";
  return { status, ms: step.pinned ? null : step.ms, tokens, preview, error, items, progress };
}

/** The one from before where nothing changed, so that no node is drawn again for nothing. */
function kept(before: NodeRun | undefined, now: NodeRun): NodeRun {
  if (!before) return now;
  const same = (Object.keys(now) as (keyof NodeRun)[]).every((member) => before[member] === now[member]);
  return same ? before : now;
}
