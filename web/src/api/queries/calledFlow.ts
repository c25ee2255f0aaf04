import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { JsonValue } from "../types";
import { flowKeys } from "./flows";

/** The flow that a step runs; without an id it is not known, and the name is what the step has. */
export interface CalledFlow {
  id: string | null;
  name: string;
  published_version: number | null;
}

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** What a field that names a flow has: an id or a name; of a version its id. */
export function flowNamed(value: JsonValue | undefined): string {
  if (typeof value === "string") return value.trim();
  if (!value || typeof value !== "object" || !("flow_id" in value)) return "";
  return typeof value.flow_id === "string" ? value.flow_id : "";
}

/** The flow of an id or a name, as the server resolves it: names in the flow's own space first. */
export const calledFlowQuery = (named: string, space: string) =>
  queryOptions({
    queryKey: [...flowKeys.lists, "called", space, named] as const,
    queryFn: async ({ signal }): Promise<CalledFlow> => {
      if (ID.test(named)) {
        const params = { path: { flow_id: named } };
        const { id, name, published_version } = await unwrap(api.GET("/api/v1/flows/{flow_id}", { params, signal }));
        return { id, name, published_version };
      }
      const params = { query: { search: named, limit: 100 } };
      const { items } = await unwrap(api.GET("/api/v1/flows", { params, signal }));
      const same = items.filter((flow) => flow.name.toLowerCase() === named.toLowerCase());
      const flow = same.find((one) => one.space_id === space) ?? same[0];
      return {
        id: flow?.id ?? null,
        name: flow?.name ?? named,
        published_version: flow?.published_version ?? null,
      };
    },
    enabled: named !== "",
    retry: false,
    staleTime: 60_000,
  });
