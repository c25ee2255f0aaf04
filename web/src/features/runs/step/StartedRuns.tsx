import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { runsQuery } from "@/api/queries/runs";
import type { RunSummary, StartedRunsOut } from "@/api/types";
import { startedWords, useStartedRunsTexts } from "@/components/started-runs";
import { Button, Problem, Segments, Skeleton, StateChip } from "@/components/ui";
import { dateTime, duration } from "@/lib/i18n/format";
import { glimpse } from "../model/glimpse";
import { type RunTextKey, useRunTexts } from "../texts";

const SHOWN = ["all", "failed"] as const;

/** The runs that a step started, one per item or round, the newest first. */
export function StartedRuns({ runId, counts }: { runId: string; counts: StartedRunsOut }) {
  const t = useRunTexts();
  const started = useStartedRunsTexts();
  const [shown, setShown] = useState<(typeof SHOWN)[number]>("all");
  const filter = {
    parent_run_id: runId,
    parent_step_id: counts.step_id,
    status: shown === "failed" ? shown : undefined,
  } as const;
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage, refetch } = useInfiniteQuery(runsQuery(filter));
  const runs = data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <p className="text-sm text-muted">{startedWords(counts, started)}</p>
        {(counts.failed ?? 0) > 0 && (
          <div className="ml-auto">
            <Segments
              size="sm"
              aria-label={t("col_state")}
              value={shown}
              onChange={setShown}
              options={SHOWN.map((value) => ({ value, label: t(value === "all" ? "runs_all" : "failed") }))}
            />
          </div>
        )}
      </div>
      {error && <Problem error={error} retry={() => void refetch()} />}
      {!data && !error && <Skeleton className="h-24" />}
      {data && runs.length === 0 && <p className="text-sm text-muted">{t("no_such_runs")}</p>}
      {runs.length > 0 && (
        <ul
          aria-label={t("started_runs")}
          className="max-h-96 divide-y divide-line overflow-y-auto rounded-md border border-line"
        >
          {runs.map((run) => (
            <StartedRun key={run.id} run={run} />
          ))}
        </ul>
      )}
      {hasNextPage && (
        <Button size="sm" className="self-center" busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {t("more")}
        </Button>
      )}
    </div>
  );
}

function StartedRun({ run }: { run: RunSummary }) {
  const t = useRunTexts();
  const number = (run.parent_iteration ?? 0) + 1;
  return (
    <li>
      <Link
        to="/flows/$flowId/runs/$runId"
        params={{ flowId: run.flow_id, runId: run.id }}
        title={dateTime(run.created_at)}
        className="flex items-center gap-2 px-2.5 py-1.5 text-sm hover:bg-hover"
      >
        <span className="w-8 shrink-0 text-right text-xs text-muted tabular-nums">
          <span className="sr-only">{t("runs_number", { number })}</span>
          <span aria-hidden>{number}</span>
        </span>
        <StateChip state={run.status} label={t(run.status as RunTextKey)} />
        <span className={`min-w-0 flex-1 truncate ${run.error ? "text-bad" : "text-muted"}`}>
          {run.error?.message || glimpse({ status: run.status, preview: run.text ?? "" })}
        </span>
        <span className="shrink-0 text-xs text-muted tabular-nums">{run.ms !== null && duration(run.ms)}</span>
      </Link>
    </li>
  );
}
