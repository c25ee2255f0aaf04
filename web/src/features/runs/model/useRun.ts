import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { type Connection, follow, gathered } from "@/api/following";
import { relationsQuery, runKeys, runQuery } from "@/api/queries/runs";
import type { RunOut } from "@/api/types";
import { applyEvent, fromRun, isOver, type LiveRun, waitsForRuns, withStarted } from "./live";

export interface FollowedRun {
  run: RunOut | undefined;
  live: LiveRun | null;
  connection: Connection;
  error: unknown;
}

const ENDINGS = new Set(["run_completed", "run_failed", "run_cancelled"]);

/** A run and, while it is not over, what happens in it, as it happens. */
export function useRun(runId: string | null): FollowedRun {
  const queries = useQueryClient();
  const query = useQuery({ ...runQuery(runId ?? ""), enabled: runId !== null });
  const [live, setLive] = useState<LiveRun | null>(null);
  const [connection, setConnection] = useState<Connection>("closed");
  const run = query.data;

  useEffect(() => {
    if (run) setLive((before) => fromRun(run, before?.id === run.id ? before : undefined));
    else setLive(null);
  }, [run]);

  const going = run !== undefined && run.id === runId && !isOver(run.status);
  useEffect(() => {
    if (!going || !runId) return;
    const ending = new AbortController();
    const events = gathered((some) =>
      setLive((before) => before && some.reduce((one, e) => applyEvent(one, e), before)),
    );
    setConnection("live");
    void follow({
      path: `/api/v1/flow-runs/${runId}/events`,
      isLast: ({ event }) => ENDINGS.has(event),
      onEvent: events.add,
      onConnection: setConnection,
      signal: ending.signal,
    }).then(() => {
      if (ending.signal.aborted) return;
      events.flush();
      void queries.invalidateQueries({ queryKey: runKeys.one(runId) });
      void queries.invalidateQueries({ queryKey: runKeys.lists });
    });
    return () => {
      ending.abort();
      events.end();
      setConnection("closed"); // that it is over may be known by the answer before a lost line is back
    };
  }, [going, runId, queries]);

  const below = waitsForRuns(live);
  const { data: relations } = useQuery({ ...relationsQuery(runId ?? "", below), enabled: below });
  const shown = useMemo(() => (live && relations ? withStarted(live, relations.steps) : live), [live, relations]);

  return {
    run: run?.id === runId ? run : undefined,
    live: shown?.id === runId ? shown : null,
    connection,
    error: query.error,
  };
}
