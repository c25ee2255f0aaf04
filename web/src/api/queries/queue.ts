import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";

export type Queue = components["schemas"]["QueueOut"];
export type QueueGroup = Queue["groups"][number];
export type QueuedRun = Queue["runs"][number];
export type QueueLimit = Queue["limits"][number];

export const queueKeys = { all: ["queue"] as const };

/** What waits and what runs, in the spaces of the user. */
export const queueQuery = queryOptions({
  queryKey: queueKeys.all,
  queryFn: ({ signal }) => unwrap(api.GET("/api/v1/queue", { signal })),
  refetchInterval: 5_000,
});

const of = (id: string) => ({ params: { path: { run_id: id } } });

export const prioritizeRun = ({ id, priority }: { id: string; priority: number }) =>
  unwrap(api.PUT("/api/v1/flow-runs/{run_id}/priority", { ...of(id), body: { priority } }));

export const cancelQueuedRun = (id: string) => unwrap(api.POST("/api/v1/flow-runs/{run_id}/cancel", of(id)));
