import { Maximize, ZoomIn, ZoomOut } from "lucide-react";
import { type KeyboardEvent, useState } from "react";
import type { RunOut } from "@/api/types";
import { cx, IconButton } from "@/components/ui";
import { duration } from "@/lib/i18n/format";
import type { LiveRun } from "../model/live";
import { type Bar, type Row, type Timeline as Shown, ticks } from "../model/timeline";
import { useNames } from "../model/useNames";
import { type RunTextKey, useRunTexts } from "../texts";
import { useTimeline } from "./useTimeline";

const LOOKS: Record<string, string> = {
  completed: "bg-ok",
  running: "bg-info animate-pulse",
  failed: "bg-bad",
  cancelled: "bg-warn",
  pending: "bg-line-strong/50",
  waiting: "bg-info/30",
};
const MOST_ZOOM = 32;

interface TimelineProps {
  run: RunOut;
  live: LiveRun;
  selected?: string | undefined;
  onSelect: (stepId: string) => void;
}

/** The steps of a run in time: what ran beside what, what waited for what, each attempt. */
export function Timeline({ run, live, selected, onSelect }: TimelineProps) {
  const t = useRunTexts();
  const timeline = useTimeline(run, live);
  const names = useNames(run.steps);
  const [zoom, setZoom] = useState(1);
  const change = (by: number) => setZoom((before) => Math.min(Math.max(before * by, 1), MOST_ZOOM));
  const keys = (event: KeyboardEvent<HTMLElement>) => {
    if (event.key === "+" || event.key === "=") change(2);
    else if (event.key === "-") change(0.5);
    else if (event.key === "0") setZoom(1);
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") move(event);
    else return;
    event.preventDefault();
  };
  return (
    <section aria-label={t("timeline")} className="flex flex-col" onKeyDown={keys}>
      <div className="flex items-center justify-end gap-0.5 px-2 pt-2">
        <span className="mr-auto pl-2 text-xs text-muted tabular-nums">{duration(timeline.length)}</span>
        <IconButton size="sm" label={t("zoom_out")} disabled={zoom === 1} onClick={() => change(0.5)}>
          <ZoomOut />
        </IconButton>
        <IconButton size="sm" label={t("zoom_in")} disabled={zoom === MOST_ZOOM} onClick={() => change(2)}>
          <ZoomIn />
        </IconButton>
        <IconButton size="sm" label={t("fit")} disabled={zoom === 1} onClick={() => setZoom(1)}>
          <Maximize />
        </IconButton>
      </div>
      <div className="overflow-x-auto pb-3">
        <div className="min-w-full" style={{ width: `${zoom * 100}%` }}>
          <Axis timeline={timeline} zoom={zoom} />
          <div className="flex flex-col">
            {timeline.rows.map((row) => (
              <RowView
                name={names[row.id] ?? row.label}
                key={row.id}
                row={row}
                length={timeline.length}
                selected={row.id === selected}
                onSelect={onSelect}
              />
            ))}
          </div>
        </div>
      </div>
    </section>
  );
}

function move(event: KeyboardEvent<HTMLElement>): void {
  const rows = [...event.currentTarget.querySelectorAll<HTMLButtonElement>("[data-row]")];
  const at = rows.indexOf(document.activeElement as HTMLButtonElement);
  rows[Math.min(Math.max(at + (event.key === "ArrowDown" ? 1 : -1), 0), rows.length - 1)]?.focus();
}

const NAME = "sticky left-0 z-10 w-36 shrink-0 truncate bg-inherit pr-2 pl-4 text-left sm:w-48";
const percent = (part: number, of: number) => `${(part / of) * 100}%`;

function Axis({ timeline, zoom }: { timeline: Shown; zoom: number }) {
  return (
    <div aria-hidden className="flex h-6 bg-surface text-2xs text-faint">
      <span className={NAME} />
      <span className="relative mr-16 flex-1">
        {ticks(timeline.length, 5 * zoom).map((tick) => (
          <span
            key={tick}
            className="absolute top-1 whitespace-nowrap max-sm:even:hidden border-l border-line pl-1"
            style={{ left: percent(tick, timeline.length) }}
          >
            {tick === 0 ? "0" : duration(tick)}
          </span>
        ))}
      </span>
    </div>
  );
}

interface RowViewProps {
  row: Row;
  name: string;
  length: number;
  selected: boolean;
  onSelect: (stepId: string) => void;
}

function RowView({ row, name, length, selected, onSelect }: RowViewProps) {
  const t = useRunTexts();
  const waited = row.wait ? `, ${t("waited", { time: duration(row.wait.to - row.wait.from) })}` : "";
  const state = `: ${t(row.status as RunTextKey)}${waited}`;
  return (
    <button
      type="button"
      data-row={row.id}
      aria-current={selected ? "step" : undefined}
      onClick={() => onSelect(row.id)}
      className={cx("flex h-8 w-full items-center hover:bg-hover", selected ? "bg-accent-soft" : "bg-surface")}
    >
      <span title={name + state} className={cx(NAME, row.bars.length === 0 && "text-faint")}>
        {name}
        <span className="sr-only">{state}</span>
      </span>
      <span className="relative mr-16 h-full flex-1 border-l border-line">
        {row.wait && <BarView bar={row.wait} length={length} thin />}
        {row.bars.map((bar) => (
          <BarView key={`${bar.from} ${bar.status}`} bar={bar} length={length} />
        ))}
        {row.bars.length > 0 && (
          <span
            className="absolute top-1.5 pl-1.5 text-2xs whitespace-nowrap text-muted tabular-nums"
            style={{ left: percent(row.bars.at(-1)?.to ?? 0, length) }}
          >
            {duration(row.ms)}
          </span>
        )}
      </span>
    </button>
  );
}

function BarView({ bar, length, thin }: { bar: Bar; length: number; thin?: boolean }) {
  return (
    <span
      className={cx(
        "absolute min-w-0.5 rounded-sm",
        thin ? "top-[15px] h-0.5" : "top-2 h-4",
        LOOKS[bar.status] ?? "bg-faint",
      )}
      style={{ left: percent(bar.from, length), width: percent(bar.to - bar.from, length) }}
    />
  );
}
