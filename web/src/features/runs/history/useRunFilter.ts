import { useState } from "react";
import type { RunFilter } from "@/api/queries/runs";
import { type Span, sinceOf, UNDELIVERED } from "./Filters";

interface Outside {
  flowId: string | undefined;
  status: string | undefined;
  onStatus: (status: string | undefined) => void;
}

/** What is chosen over a list of runs: as the query asks for it, and as the fields show it. */
export function useRunFilter({ flowId, status, onStatus }: Outside) {
  const [search, setSearch] = useState("");
  const [span, setSpan] = useState<Span>("any");
  const [since, setSince] = useState<string | undefined>();
  const [undelivered, setUndelivered] = useState(false);
  const filter: RunFilter = {
    flow_id: flowId,
    status: status as RunFilter["status"],
    search: search || undefined,
    since,
    deliveries: undelivered ? "failed" : undefined,
  };
  const choose = (next: string | undefined) => {
    setUndelivered(next === UNDELIVERED);
    onStatus(next === UNDELIVERED ? undefined : next);
  };
  const clear = () => {
    setSearch("");
    setSpan("any");
    setSince(undefined);
    choose(undefined);
  };
  const fields = {
    status: undelivered ? UNDELIVERED : status,
    onStatus: choose,
    search,
    onSearch: setSearch,
    span,
    onSpan: (next: Span) => {
      setSpan(next);
      setSince(sinceOf(next));
    },
  };
  return { filter, fields, undelivered, clear, filtered: Boolean(status || search || since || undelivered) };
}
