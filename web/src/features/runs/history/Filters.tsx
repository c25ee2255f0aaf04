import { useQuery } from "@tanstack/react-query";
import { Search } from "lucide-react";
import { useEffect, useState } from "react";
import { collectionsQuery } from "@/api/queries/flowCollections";
import { meQuery } from "@/api/queries/me";
import { triggersQuery } from "@/api/queries/triggers";
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
export const isSpan = (value: string): value is Span => SPANS.some(([span]) => span === value);
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
  owner: string | undefined;
  onOwner: (owner: string | undefined) => void;
  tag: string | undefined;
  onTag: (tag: string | undefined) => void;
  trigger: string | undefined;
  onTrigger: (trigger: string | undefined) => void;
  flow?: string | undefined;
  names?: Record<string, string>;
  onFlow?: (flow: string | undefined) => void;
}

export function Filters({
  search,
  onSearch,
  status,
  onStatus,
  span,
  onSpan,
  flow,
  names,
  onFlow,
  ...more
}: FiltersProps) {
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
      <OfTrigger flow={flow} {...more} />
      {names && <OfFlows {...more} />}
    </div>
  );
}

const ALL = "*";

/** Filters by the trigger that started a run, where there are triggers. */
function OfTrigger({ flow, trigger, onTrigger }: Pick<FiltersProps, "flow" | "trigger" | "onTrigger">) {
  const t = useRunTexts();
  const { data = [] } = useQuery({ ...triggersQuery(flow ? { flow_id: flow } : {}), refetchInterval: false });
  if (data.length === 0 && !trigger) return null;
  const known = data.map(({ id, name, flow_name }) => ({ value: id, label: flow ? name : `${name} · ${flow_name}` }));
  const removed = trigger && !data.some(({ id }) => id === trigger) ? [{ value: trigger, label: trigger }] : [];
  return (
    <Select
      aria-label={t("column_trigger")}
      className="min-w-36 flex-1 sm:w-44 sm:flex-none"
      value={trigger ?? ALL}
      onChange={(next) => onTrigger(next === ALL ? undefined : next)}
      options={[{ value: ALL, label: t("every_trigger") }, ...known, ...removed]}
    />
  );
}

/** Filters by what the flow has: its owner and its tags. */
function OfFlows({ owner, onOwner, tag, onTag }: Pick<FiltersProps, "owner" | "onOwner" | "tag" | "onTag">) {
  const t = useRunTexts();
  const own = useQuery(meQuery).data?.user.id;
  const tags = useQuery(collectionsQuery(undefined)).data?.tags ?? [];
  const chosen = (next: string) => (next === ALL ? undefined : next);
  return (
    <>
      {own && (
        <Select
          aria-label={t("filter_owner")}
          className="min-w-36 flex-1 sm:w-36 sm:flex-none"
          value={owner ?? ALL}
          onChange={(next) => onOwner(chosen(next))}
          options={[
            { value: ALL, label: t("every_owner") },
            { value: own, label: t("owned_by_me") },
          ]}
        />
      )}
      {(tags.length > 0 || tag) && (
        <Select
          aria-label={t("filter_tag")}
          className="min-w-36 flex-1 sm:w-36 sm:flex-none"
          value={tag ?? ALL}
          onChange={(next) => onTag(chosen(next))}
          options={[{ value: ALL, label: t("every_tag") }, ...tags.map(({ name }) => ({ value: name, label: name }))]}
        />
      )}
    </>
  );
}
