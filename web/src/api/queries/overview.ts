import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";
import { flowKeys } from "./flows";

export type GraphOut = components["schemas"]["GraphOut"];
export type GraphNode = components["schemas"]["GraphNode"];
export type GraphEdge = components["schemas"]["GraphEdge"];

export const overviewKeys = {
  draft: (id: string, revision: number) => [...flowKeys.one(id), "overview", revision] as const,
  run: (id: string, runId: string) => [...flowKeys.one(id), "overview", "run", runId] as const,
  runs: (id: string) => [...flowKeys.one(id), "overview", "runs"] as const,
};

/** The draft as a graph with roles, badges and classes. */
export const draftGraphQuery = (flowId: string, revision: number) =>
  queryOptions({
    queryKey: overviewKeys.draft(flowId, revision),
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/flows/{flow_id}/graph", { params: { path: { flow_id: flowId } }, signal })),
  });

/** The version that a run is pinned to, with what came of each step. */
export const runGraphQuery = (flowId: string, runId: string) =>
  queryOptions({
    queryKey: overviewKeys.run(flowId, runId),
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/v1/flows/{flow_id}/graph", {
          params: { path: { flow_id: flowId }, query: { run_id: runId } },
          signal,
        }),
      ),
  });

/** The newest runs of the flow. */
export const recentRunsQuery = (flowId: string) =>
  queryOptions({
    queryKey: overviewKeys.runs(flowId),
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/flow-runs", { params: { query: { flow_id: flowId, limit: 50 } }, signal })),
  });
