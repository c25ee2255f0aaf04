import type { ReactNode } from "react";
import { cx } from "@/components/ui";
import { number } from "@/lib/i18n/format";
import { useQueueTexts } from "./texts";

export const STATES = ["running", "waiting", "paused"] as const;
export type State = (typeof STATES)[number];
export type Counts = Record<State, number>;
export const COLOURS: Record<State, string> = { running: "bg-accent", waiting: "bg-warn", paused: "bg-line-strong" };

export interface Bar {
  id: string;
  name: ReactNode;
  counts: Counts;
}

export const totalOf = (counts: Counts) => STATES.reduce((sum, state) => sum + counts[state], 0);

/** Counts of runs as bars of one scale, the longest first. */
export function Bars({ title, bars }: { title: string; bars: readonly Bar[] }) {
  const t = useQueueTexts();
  const most = Math.max(1, ...bars.map((bar) => totalOf(bar.counts)));
  return (
    <section aria-label={title} className="min-w-0">
      <h2 className="mb-2 font-semibold">{title}</h2>
      <ul className="flex flex-col gap-3 rounded-lg border border-line bg-surface px-4 py-3">
        {bars.map(({ id, name, counts }) => (
          <li key={id}>
            <div className="flex items-baseline gap-3 text-sm">
              <span className="min-w-0 flex-1 wrap-anywhere">{name}</span>
              <span className="font-medium tabular-nums">{number(totalOf(counts))}</span>
            </div>
            <div className="mt-1 flex h-2 overflow-hidden rounded-full bg-sunken">
              {STATES.filter((state) => counts[state] > 0).map((state) => (
                <span
                  key={state}
                  role="img"
                  aria-label={t("count", { what: t(state), count: number(counts[state]) })}
                  title={t("count", { what: t(state), count: number(counts[state]) })}
                  className={cx("min-w-1", COLOURS[state])}
                  style={{ width: `${(100 * counts[state]) / most}%` }}
                />
              ))}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
