import { useQueries } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { stepQuery } from "@/api/queries/runs";
import type { AttemptOut, RunOut } from "@/api/types";
import { useDraft } from "@/lib/draft";
import { isOver, type LiveRun } from "../model/live";
import { type Timeline, timelineOf } from "../model/timeline";

/** A run's timeline; it grows while the run goes on. */
export function useTimeline(run: RunOut, live: LiveRun): Timeline {
  const edges = useDraft((state) => state.document.edges);
  const [now, setNow] = useState(Date.now());
  const going = !isOver(live.status);
  useEffect(() => {
    if (!going) return;
    const timer = setInterval(() => setNow(Date.now()), 250);
    return () => clearInterval(timer);
  }, [going]);
  const again = run.steps.filter((step) => step.attempts > 1);
  const tries = useQueries({
    queries: again.map((step) => stepQuery(run.id, step.step_id, `${step.status} ${step.attempts}`)),
    combine: (found) =>
      Object.fromEntries(
        found.flatMap((one) => (one.data ? [[one.data.step_id, one.data.tries] as [string, AttemptOut[]]] : [])),
      ),
  });
  return useMemo(() => {
    const parents: Record<string, string[]> = {};
    for (const edge of Object.values(edges)) parents[edge.target] = [...(parents[edge.target] ?? []), edge.source];
    const steps = run.steps.map((step) => {
      const told = live.steps[step.step_id];
      if (!going || !told) return step;
      const started = told.startedAt === null ? step.started_at : new Date(told.startedAt).toISOString();
      const ended =
        told.startedAt !== null && told.ms !== null ? new Date(told.startedAt + told.ms).toISOString() : null;
      return { ...step, status: told.status, ms: told.ms, started_at: started, finished_at: step.finished_at ?? ended };
    });
    return timelineOf({ createdAt: run.created_at, steps, parents, tries, now });
  }, [edges, run, live, going, tries, now]);
}
