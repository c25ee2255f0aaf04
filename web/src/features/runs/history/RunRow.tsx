import { Link } from "@tanstack/react-router";
import type { RunSummary } from "@/api/types";
import { EventWaitMark } from "@/components/events";
import { ITEM, type Selection, TARGET } from "@/components/lists";
import { Checkbox, Chip, cx, StateChip } from "@/components/ui";
import { ago, dateTime, duration } from "@/lib/i18n/format";
import { glimpse } from "../model/glimpse";
import { partWords } from "../model/partWords";
import { Ticking } from "../panel/Ticking";
import { type RunTextKey, useRunTexts } from "../texts";

interface RunRowProps {
  run: RunSummary;
  flowName: string | undefined;
  selection: Selection;
}

/** A run in a list: status, result, time and duration. */
export function RunRow({ run, flowName, selection }: RunRowProps) {
  const t = useRunTexts();
  const selected = selection.has(run.id);
  return (
    <li {...{ [ITEM]: run.id }} className={cx("flex items-center gap-3 pl-3", selected && "bg-accent-soft")}>
      <Checkbox
        checked={selected}
        onChange={() => selection.toggle(run.id)}
        aria-label={t("select_run", { when: dateTime(run.created_at) })}
      />
      <Link
        {...{ [TARGET]: "" }}
        to="/flows/$flowId/runs/$runId"
        params={{ flowId: run.flow_id, runId: run.id }}
        className="grid min-w-0 flex-1 grid-cols-[6.5rem_1fr] items-center gap-x-3 gap-y-0.5 py-2.5 pr-3 hover:bg-hover sm:grid-cols-[7rem_1fr_auto_5rem]"
      >
        <span>
          <StateChip state={run.status} label={t(run.status as RunTextKey)} />
        </span>
        <span className="row-span-2 min-w-0 sm:row-span-1">
          <span className="flex flex-col sm:flex-row sm:items-center sm:gap-2">
            {flowName && <span className="truncate font-medium sm:max-w-3/4 sm:shrink-0">{flowName}</span>}
            <span className={cx("min-w-0 truncate", run.error ? "text-bad" : "text-muted")}>
              {run.error?.message ||
                glimpse({ status: run.status, preview: run.text ?? "" }) ||
                t("version", { no: run.version })}
            </span>
          </span>
          <Marks run={run} />
        </span>
        <time
          dateTime={run.created_at}
          title={dateTime(run.created_at)}
          className="col-start-1 text-xs text-muted sm:col-start-3"
        >
          {ago(run.created_at)}
        </time>
        <span className="hidden text-right text-xs text-muted tabular-nums sm:block">
          {run.status === "running" && run.started_at ? (
            <Ticking since={Date.parse(run.started_at)} />
          ) : (
            run.ms !== null && duration(run.ms)
          )}
        </span>
      </Link>
    </li>
  );
}

/** What is special about a run: failed deliveries, only a part of the flow, results of another run, resumed. */
function Marks({ run }: { run: RunSummary }) {
  const t = useRunTexts();
  const part = partWords(run, t);
  const undelivered = run.deliveries_failed ?? 0;
  const waits = run.status === "waiting";
  if (!part && !run.source_run_id && run.resumes === 0 && undelivered === 0 && !waits) return null;
  return (
    <span className="mt-0.5 flex flex-wrap gap-1">
      {undelivered > 0 && <Chip tone="warn">{t("deliveries_failed", { count: undelivered })}</Chip>}
      {waits && <EventWaitMark runId={run.id} />}
      {part && <Chip>{part}</Chip>}
      {run.source_run_id && <Chip>{t("built_on")}</Chip>}
      {run.resumes > 0 && <Chip>{t("resumed", { count: run.resumes })}</Chip>}
    </span>
  );
}
