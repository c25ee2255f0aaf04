import type { ReactNode } from "react";
import type { RunSummary } from "@/api/types";
import { duration, money } from "@/lib/i18n/format";
import { Ticking } from "../panel/Ticking";
import { useRunTexts } from "../texts";

/** Columns that can be chosen, in their order. */
export const COLUMNS = ["trigger", "version", "cost", "duration", "owner", "tags"] as const;
export type RunColumn = (typeof COLUMNS)[number];
export const DEFAULT_COLUMNS: readonly RunColumn[] = ["duration"];
export const WIDTHS: Record<RunColumn, string> = {
  trigger: "lg:w-24",
  version: "lg:w-14",
  cost: "lg:w-20 lg:text-right",
  duration: "lg:w-20 lg:text-right",
  owner: "lg:w-24",
  tags: "lg:w-24",
};

export const isColumn = (name: string): name is RunColumn => COLUMNS.includes(name as RunColumn);

type Texts = ReturnType<typeof useRunTexts>;

const CELLS: Record<RunColumn, (run: RunSummary, t: Texts) => ReactNode> = {
  trigger: ({ details }) => details?.trigger?.name ?? null,
  version: ({ details, version }) => (details?.release ? `v${details.release}` : `#${version}`),
  cost: ({ details }, t) => {
    if (!details || (details.cost_usd === 0 && details.unpriced === 0)) return null;
    const unpriced = details.unpriced > 0;
    return (
      <span title={unpriced ? t("cost_unpriced", { count: details.unpriced }) : undefined}>
        {money(details.cost_usd)}
        {unpriced && "+"}
      </span>
    );
  },
  duration: ({ status, started_at, ms }) => {
    if (status === "running" && started_at) return <Ticking since={Date.parse(started_at)} />;
    return ms === null ? null : duration(ms);
  },
  owner: ({ details }) => details?.owner ?? null,
  tags: ({ details }) => details?.tags.join(", ") || null,
};

/** Shows a column of a run; null when there is nothing. */
export function useCell() {
  const t = useRunTexts();
  return (run: RunSummary, column: RunColumn) => CELLS[column](run, t);
}
