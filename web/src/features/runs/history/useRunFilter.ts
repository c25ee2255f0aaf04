import { useState } from "react";
import type { RunFilter } from "@/api/queries/runs";
import type { SavedView } from "@/api/queries/savedViews";
import { isSpan, type Span, sinceOf, UNDELIVERED } from "./Filters";

interface Outside {
  flowId: string | undefined;
  /** Whose runs are shown at first. */
  triggerId: string | undefined;
  status: string | undefined;
  onStatus: (status: string | undefined) => void;
}

interface Chosen {
  search: string;
  span: Span;
  since: string | undefined;
  undelivered: boolean;
  owner: string | undefined;
  tag: string | undefined;
  trigger: string | undefined;
}

const NOTHING: Chosen = {
  search: "",
  span: "any",
  since: undefined,
  undelivered: false,
  owner: undefined,
  tag: undefined,
  trigger: undefined,
};
const HOURS: Record<Exclude<Span, "any">, string> = { hour: "1", day: "24", week: "168", month: "720" };

/** What is chosen over a list of runs: as the query asks for it, as the fields show it, and as a view stores it. */
export function useRunFilter({ flowId, triggerId, status, onStatus }: Outside) {
  const [chosen, setChosen] = useState<Chosen>({ ...NOTHING, trigger: triggerId });
  const change = (next: Partial<Chosen>) => setChosen((before) => ({ ...before, ...next }));
  const { search, span, since, undelivered, owner, tag, trigger } = chosen;
  const filter: RunFilter = {
    flow_id: flowId,
    trigger_id: trigger,
    status: status as RunFilter["status"],
    search: search || undefined,
    since,
    deliveries: undelivered ? "failed" : undefined,
    owner_id: owner,
    tag,
  };
  const choose = (next: string | undefined) => {
    change({ undelivered: next === UNDELIVERED });
    onStatus(next === UNDELIVERED ? undefined : next);
  };
  const clear = () => {
    setChosen(NOTHING);
    onStatus(undefined);
  };
  const fields = {
    status: undelivered ? UNDELIVERED : status,
    onStatus: choose,
    search,
    onSearch: (next: string) => change({ search: next }),
    span,
    onSpan: (next: Span) => change({ span: next, since: sinceOf(next) }),
    owner,
    onOwner: (next: string | undefined) => change({ owner: next }),
    tag,
    onTag: (next: string | undefined) => change({ tag: next }),
    trigger,
    onTrigger: (next: string | undefined) => change({ trigger: next }),
  };
  const stored = { ...filter, flow_id: undefined, since: undefined, within_hours: span === "any" ? "" : HOURS[span] };
  const filters = Object.fromEntries(
    Object.entries(stored).filter((entry): entry is [string, string] => Boolean(entry[1])),
  );
  /** Apply the filters of a saved view. */
  const apply = ({ settings }: SavedView) => {
    const text = (name: string) => {
      const value = settings.filters?.[name];
      return typeof value === "string" ? value : undefined;
    };
    const next = Object.keys(HOURS).find((one) => isSpan(one) && one !== "any" && HOURS[one] === text("within_hours"));
    const nextSpan = next && isSpan(next) ? next : "any";
    setChosen({
      search: text("search") ?? "",
      span: nextSpan,
      since: sinceOf(nextSpan),
      undelivered: text("deliveries") === "failed",
      owner: text("owner_id"),
      tag: text("tag"),
      trigger: text("trigger_id"),
    });
    onStatus(text("status"));
  };
  const narrowed = Boolean(status || search || since || undelivered || owner || tag || trigger);
  return { filter, filters, fields, undelivered, clear, apply, filtered: narrowed };
}
