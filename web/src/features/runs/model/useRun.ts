import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { StreamEvent } from "@/api/events";
import { runKeys, runQuery } from "@/api/queries/runs";
import type { RunOut } from "@/api/types";
import { applyEvent, fromRun, isOver, type LiveRun } from "./live";
import { type Connection, watchRun } from "./watch";

export interface FollowedRun {
  run: RunOut | undefined;
  live: LiveRun | null;
  connection: Connection;
  error: unknown;
}

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
    void watchRun(runId, { onEvent: events.add, onConnection: setConnection, signal: ending.signal }).then(() => {
      if (ending.signal.aborted) return;
      events.flush();
      void queries.invalidateQueries({ queryKey: runKeys.one(runId) });
      void queries.invalidateQueries({ queryKey: runKeys.lists });
    });
    return () => {
      ending.abort();
      events.end();
    };
  }, [going, runId, queries]);

  return {
    run: run?.id === runId ? run : undefined,
    live: live?.id === runId ? live : null,
    connection,
    error: query.error,
  };
}

/** Events of a moment together: a token a millisecond must not draw the page a thousand times a second. */
function gathered(take: (events: StreamEvent[]) => void) {
  let waiting: StreamEvent[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.length === 0) return;
    const some = waiting;
    waiting = [];
    take(some);
  };
  const add = (event: StreamEvent) => {
    waiting.push(event);
    timer ??= setTimeout(flush, 40);
  };
  return { add, flush, end: () => clearTimeout(timer) };
}
