import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { JsonValue } from "../types";

const path = (flow_id: string, draft: boolean) => ({ path: { flow_id }, query: { draft } });

export const stateKeys = {
  all: (flowId: string) => ["flows", "state", flowId] as const,
  list: (flowId: string, draft: boolean) => ["flows", "state", flowId, "list", draft] as const,
  one: (flowId: string, name: string, draft: boolean) => ["flows", "state", flowId, "one", draft, name] as const,
};

/** The names of the values that last between runs of a flow; with `draft` those of test runs. */
export const stateListQuery = (flowId: string, draft: boolean) =>
  queryOptions({
    queryKey: stateKeys.list(flowId, draft),
    queryFn: async ({ signal }) =>
      (await unwrap(api.GET("/api/v1/flows/{flow_id}/state", { params: path(flowId, draft), signal }))).items,
  });

/** One value with its history. */
export const stateQuery = (flowId: string, name: string, draft: boolean) =>
  queryOptions({
    queryKey: stateKeys.one(flowId, name, draft),
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/v1/flows/{flow_id}/state/{name}", {
          params: { path: { flow_id: flowId, name }, query: { draft } },
          signal,
        }),
      ),
  });

/** Set a value, unless a run has changed it since the version that was read. */
export const setState = (flowId: string, name: string, draft: boolean, value: JsonValue, expected: number) =>
  unwrap(
    api.PUT("/api/v1/flows/{flow_id}/state/{name}", {
      params: { path: { flow_id: flowId, name }, query: { draft } },
      body: { value, expected_version: expected },
    }),
  );

export const deleteState = (flowId: string, name: string, draft: boolean) =>
  unwrap(
    api.DELETE("/api/v1/flows/{flow_id}/state/{name}", {
      params: { path: { flow_id: flowId, name }, query: { draft } },
    }),
  );
