import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";

export type Circuit = components["schemas"]["CircuitOut"];

export const circuitKeys = { all: ["circuits"] as const };

/** Hosts that failed for flows of the organisation and have not answered since. */
export const circuitsQuery = queryOptions({
  queryKey: circuitKeys.all,
  queryFn: async ({ signal }) => (await unwrap(api.GET("/api/v1/circuits", { signal }))).items,
  refetchInterval: 10_000,
});

export const resetCircuit = (host: string) =>
  unwrap(api.DELETE("/api/v1/circuits/{host}", { params: { path: { host } } }));
