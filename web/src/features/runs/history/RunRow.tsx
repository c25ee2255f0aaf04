import { Link } from "@tanstack/react-router";
import type { RunSummary, WaitReason } from "@/api/types";
import { EventWaitMark } from "@/components/events";
import { ITEM, type Selection, TARGET } from "@/components/lists";
import { Checkbox, Chip, cx, StateChip } from "@/components/ui";
import { ago, dateTime } from "@/lib/i18n/format";
import { glimpse } from "../model/glimpse";
import { partWords } from "../model/partWords";
import { type RunTextKey, useRunTexts } from "../texts";
import { type RunColumn, useCell, WIDTHS } from "./columns";

interface RunRowProps {
  run: RunSummary;
  flowName: string | undefined;
  selection: Selection;
  columns: readonly RunColumn[];
}

/** A run in a list: status, result, the chosen columns and the time. */
export function RunRow({ run, flowName, selection, columns }: RunRowProps) {
  const t = useRunTexts();
  const cell = useCell();
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
        className="flex min-w-0 flex-1 flex-wrap items-center gap-x-3 gap-y-0.5 py-2.5 pr-3 hover:bg-hover lg:flex-nowrap"
      >
        <span className="w-26 shrink-0">
          <StateChip state={run.status} label={t(run.status as RunTextKey)} />
        </span>
        <span className="min-w-0 flex-1 basis-44">
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
        {columns.map((column) => {
          const value = cell(run, column);
          return (
            <span
              key={column}
              className={cx(
                "shrink-0 truncate text-xs text-muted tabular-nums max-lg:max-w-full",
                WIDTHS[column],
                value === null && "max-lg:hidden",
              )}
            >
              <span className="sr-only">{t(`column_${column}`)} </span>
              {value}
            </span>
          );
        })}
        <time
          dateTime={run.created_at}
          title={dateTime(run.created_at)}
          className="shrink-0 text-xs text-muted lg:w-24 lg:text-right"
        >
          {ago(run.created_at, { brief: true })}
        </time>
      </Link>
    </li>
  );
}

/** Whether a list names what a run waits for in general; an event it names with its correlation. */
const isNamed = (reason: WaitReason): reason is Exclude<WaitReason, "event"> => reason !== "event";

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
      {run.details?.waits_for?.filter(isNamed).map((reason) => (
        <Chip key={reason}>{t(`list_waits_${reason}`)}</Chip>
      ))}
      {waits && <EventWaitMark runId={run.id} />}
      {part && <Chip>{part}</Chip>}
      {run.source_run_id && <Chip>{t("built_on")}</Chip>}
      {run.resumes > 0 && <Chip>{t("resumed", { count: run.resumes })}</Chip>}
    </span>
  );
}
