import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";

export type Readiness = components["schemas"]["Readiness"];
type Alive = components["schemas"]["Alive"];

const healthKeys = { version: ["health", "version"] as const, ready: ["health", "ready"] as const };

export const versionQuery = queryOptions({
  queryKey: healthKeys.version,
  queryFn: ({ signal }) => unwrap(api.GET("/health", { signal })),
  staleTime: Number.POSITIVE_INFINITY,
});

/** How the server's parts are: those who sign in are told the status alone. A server in trouble answers too. */
export const readinessQuery = queryOptions({
  queryKey: healthKeys.ready,
  queryFn: async ({ signal }): Promise<Readiness | Alive> => {
    const { data, error } = await api.GET("/health/ready", { signal });
    return (data ?? error) as Readiness | Alive;
  },
});

export const partsOf = (found: Readiness | Alive | undefined) => (found && "parts" in found ? found : null);
