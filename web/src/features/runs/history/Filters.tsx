import { Search } from "lucide-react";
import { useEffect, useState } from "react";
import { Input, Select } from "@/components/ui";
import { type RunTextKey, useRunTexts } from "../texts";

export type Span = "any" | "hour" | "day" | "week" | "month";

const HOURS: Record<Exclude<Span, "any">, number> = { hour: 1, day: 24, week: 168, month: 720 };
const SPANS = [
  ["any", "any_time"],
  ["hour", "last_hour"],
  ["day", "last_day"],
  ["week", "last_week"],
  ["month", "last_month"],
] as const satisfies readonly (readonly [Span, RunTextKey])[];
/** Not a state of runs: those of which an output did not reach its receiver. */
export const UNDELIVERED = "undelivered";
const STATES = ["queued", "running", "waiting", "paused", "completed", "failed", "cancelled"] as const;

/** The moment from which a span reaches until now. */
export function sinceOf(span: Span): string | undefined {
  return span === "any" ? undefined : new Date(Date.now() - HOURS[span] * 3_600_000).toISOString();
}

interface FiltersProps {
  search: string;
  onSearch: (search: string) => void;
  status: string | undefined;
  onStatus: (status: string | undefined) => void;
  span: Span;
  onSpan: (span: Span) => void;
  flow?: string | undefined;
  names?: Record<string, string>;
  onFlow?: (flow: string | undefined) => void;
}

export function Filters({ search, onSearch, status, onStatus, span, onSpan, flow, names, onFlow }: FiltersProps) {
  const t = useRunTexts();
  const [typed, setTyped] = useState(search);
  useEffect(() => setTyped(search), [search]);
  useEffect(() => {
    const timer = setTimeout(() => onSearch(typed.trim()), 250);
    return () => clearTimeout(timer);
  }, [typed, onSearch]);
  return (
    <div className="flex flex-wrap items-center gap-2">
      <div className="relative min-w-full flex-1 sm:min-w-48">
        <Search aria-hidden className="absolute top-2 left-2.5 size-4 text-faint" />
        <Input
          type="search"
          aria-label={t("search_runs")}
          placeholder={t("search_runs")}
          className="pl-8"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      </div>
      <Select
        aria-label={t("col_state")}
        className="min-w-36 flex-1 sm:w-36 sm:flex-none"
        value={status ?? "all"}
        onChange={(next) => onStatus(next === "all" ? undefined : next)}
        options={[
          { value: "all", label: t("all_states") },
          ...STATES.map((one) => ({ value: one as string, label: t(one) })),
          { value: UNDELIVERED, label: t("undelivered") },
        ]}
      />
      <Select
        aria-label={t("col_started")}
        className="min-w-36 flex-1 sm:w-36 sm:flex-none"
        value={span}
        onChange={onSpan}
        options={SPANS.map(([value, key]) => ({ value, label: t(key) }))}
      />
      {names && onFlow && (
        <Select
          aria-label={t("col_flow")}
          className="min-w-36 flex-1 sm:w-44 sm:flex-none"
          value={flow ?? "all"}
          onChange={(next) => onFlow(next === "all" ? undefined : next)}
          options={[
            { value: "all", label: t("all_flows") },
            ...Object.entries(names).map(([value, label]) => ({ value, label })),
          ]}
        />
      )}
    </div>
  );
}
