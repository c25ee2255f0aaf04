import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import { flowKeys } from "./flows";

/** The saved draft as a graph: classes, roles and order of its nodes. */
export const graphQuery = (flowId: string, revision: number) =>
  queryOptions({
    queryKey: [...flowKeys.one(flowId), "graph", revision] as const,
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/flows/{flow_id}/graph", { params: { path: { flow_id: flowId } }, signal })),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });
