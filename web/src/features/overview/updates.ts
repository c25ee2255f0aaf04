import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { streamEvents } from "@/api/events";
import { ApiError } from "@/api/problem";
import { overviewKeys } from "@/api/queries/overview";

const ENDINGS = new Set(["run_completed", "run_failed", "run_cancelled"]);
const TOLD = new Set(["step_started", "step_completed", "step_failed", "step_skipped", "step_waiting", ...ENDINGS]);
const PAUSE_MS = 1500;
const TOGETHER_MS = 150;

/** Follows a run until it is over: with every step that begins or ends the graph is read again. */
export function useRunUpdates(flowId: string, runId: string | undefined): void {
  const client = useQueryClient();
  useEffect(() => {
    if (!runId) return;
    const leaving = new AbortController();
    const read = () => {
      void client.invalidateQueries({ queryKey: overviewKeys.run(flowId, runId) });
      void client.invalidateQueries({ queryKey: overviewKeys.runs(flowId) });
    };
    void follow(runId, leaving.signal, read);
    return () => leaving.abort();
  }, [client, flowId, runId]);
}

async function follow(runId: string, signal: AbortSignal, read: () => void): Promise<void> {
  const soon = gathered(read, signal);
  let last: string | undefined;
  while (!signal.aborted) {
    try {
      const told = streamEvents(`/api/v1/flow-runs/${runId}/events`, { signal, lastEventId: last });
      for await (const { id, event } of told) {
        last = id ?? last;
        if (TOLD.has(event)) soon();
      }
      return;
    } catch (error) {
      // Without a connection it goes on where it was; what the server refuses is told by the graph itself.
      if (signal.aborted || !isPassing(error)) return;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}

const isPassing = (error: unknown) => error instanceof ApiError && error.passing;

/** Once for all that is told in quick succession. */
function gathered(read: () => void, signal: AbortSignal): () => void {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    setTimeout(() => {
      waiting = false;
      if (!signal.aborted) read();
    }, TOGETHER_MS);
  };
}
