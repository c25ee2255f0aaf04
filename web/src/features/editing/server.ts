import { api, ownHeaders, unwrap } from "@/api/client";
import { ApiError } from "@/api/problem";
import type { Flow, FlowOut } from "@/api/types";

/** What saving needs of the server: of one flow. */
export interface DraftServer {
  read: () => Promise<FlowOut>;
  write: (revision: number, definition: Flow) => Promise<FlowOut>;
  /** Written while the page goes away: nobody waits for the answer. */
  writeLast: (revision: number, definition: Flow) => void;
}

const MOST_LAST_BYTES = 60_000;

export function draftServer(flowId: string): DraftServer {
  const path = { flow_id: flowId };
  return {
    read: () => unwrap(api.GET("/api/v1/flows/{flow_id}", { params: { path } })),
    write: (revision, definition) =>
      unwrap(api.PATCH("/api/v1/flows/{flow_id}/draft", { params: { path }, body: { revision, definition } })),
    writeLast: (revision, definition) => {
      const body = JSON.stringify({ revision, definition });
      // Browsers let a page that goes away send no more than 64 KB.
      if (body.length > MOST_LAST_BYTES) return;
      const headers = { "content-type": "application/json", ...ownHeaders() };
      fetch(`/api/v1/flows/${flowId}/draft`, { method: "PATCH", keepalive: true, headers, body }).catch(
        () => undefined,
      );
    },
  };
}

export const isStale = (error: unknown): boolean => error instanceof ApiError && error.code === "stale_revision";
export const isPassing = (error: unknown): boolean => error instanceof ApiError && error.passing;
export const statusOf = (error: unknown): number => (error instanceof ApiError ? error.status : -1);
