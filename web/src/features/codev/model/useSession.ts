import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { type Connection, follow, gathered } from "@/api/following";
import { type CodevSession, codevKeys, codevSessionQuery, readSession } from "@/api/queries/codev";
import { apply, begin, type LiveSession, refresh } from "./session";

export interface FollowedSession {
  session: CodevSession | undefined;
  live: LiveSession | null;
  connection: Connection;
  error: unknown;
}

/** A session with everything that happened in it, and what happens, as it happens. */
export function useSession(id: string): FollowedSession {
  const queries = useQueryClient();
  const query = useQuery(codevSessionQuery(id));
  const session = query.data;
  const [live, setLive] = useState<LiveSession | null>(null);
  const [connection, setConnection] = useState<Connection>("closed");
  const seen = useRef({ id, number: 0 });
  if (seen.current.id !== id) seen.current = { id, number: 0 };

  useEffect(() => {
    if (session) setLive((before) => (before ? refresh(before, session) : begin(session)));
  }, [session]);

  // It is followed while it works, and while something has happened that was not told here yet.
  const follows = session?.status === "in_progress" || (live?.id === id && live.seen < live.asOf);
  useEffect(() => {
    if (!follows) return;
    const ending = new AbortController();
    const events = gathered((some) => setLive((before) => before && some.reduce(apply, before)));
    const isOver = async () => {
      events.flush();
      const now = await readSession(id).catch(() => null);
      if (!now || ending.signal.aborted) return false;
      queries.setQueryData(codevSessionQuery(id).queryKey, now);
      void queries.invalidateQueries({ queryKey: codevKeys.lists });
      void queries.invalidateQueries({ queryKey: codevKeys.waiting });
      return now.status !== "in_progress" && now.last_event <= seen.current.number;
    };
    void follow({
      path: `/api/v1/codev/sessions/${encodeURIComponent(id)}/events`,
      lastEventId: seen.current.number ? String(seen.current.number) : undefined,
      isOver,
      onEvent: (event) => {
        seen.current.number = Math.max(seen.current.number, Number(event.id) || 0);
        events.add(event);
      },
      onConnection: setConnection,
      signal: ending.signal,
    });
    return () => {
      ending.abort();
      events.flush();
      setConnection("closed");
    };
  }, [id, follows, queries]);

  // What is known is told by the answer, not by events: each phase leaves something.
  const phase = live?.phase;
  const asked = useRef(phase);
  useEffect(() => {
    if (asked.current && phase && asked.current !== phase) {
      void queries.invalidateQueries({ queryKey: codevKeys.one(id), exact: true });
    }
    asked.current = phase;
  }, [id, phase, queries]);

  return {
    session: session?.thread_id === id ? session : undefined,
    live: live?.id === id ? live : null,
    connection,
    error: query.error,
  };
}
