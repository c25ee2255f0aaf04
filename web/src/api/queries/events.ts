import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";

export type EventWait = components["schemas"]["EventWaitOut"];
type EventBody = Partial<components["schemas"]["EventIn"]> & { name: string };

export const eventKeys = {
  all: ["events"] as const,
  waiting: (runId: string | null) => ["events", "waiting", runId] as const,
};

const SOON_MS = 5000;

/** The steps that wait for an event: of one run, or of all that the user can view. */
export const eventWaitsQuery = (runId: string | null) =>
  queryOptions({
    queryKey: eventKeys.waiting(runId),
    queryFn: async ({ signal }) =>
      (await unwrap(api.GET("/api/v1/events/waiting", { params: { query: runId ? { run_id: runId } : {} }, signal })))
        .items,
    refetchInterval: SOON_MS,
  });

export const sendEvent = (event: EventBody) =>
  unwrap(
    api.POST("/api/v1/events", { body: { correlation: "", data: null, deliver: "one", keep_hours: 24, ...event } }),
  );
