import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";

export type Process = components["schemas"]["ProcessOut"];

export const processKeys = { all: ["processes"] as const };

/** Servers and workers of the installation, and those that died within seven days. */
export const processesQuery = queryOptions({
  queryKey: processKeys.all,
  queryFn: async ({ signal }) => (await unwrap(api.GET("/api/v1/processes", { signal }))).items,
  refetchInterval: 5_000,
});

export interface DrainOrder {
  id: string;
  /** After so many seconds its runs continue elsewhere; null: it finishes them. */
  handOverSeconds: number | null;
}

export const drainProcess = ({ id, handOverSeconds }: DrainOrder) =>
  unwrap(
    api.PUT("/api/v1/processes/{process_id}/drain", {
      params: { path: { process_id: id } },
      body: { hand_over_seconds: handOverSeconds },
    }),
  );

export const undrainProcess = (id: string) =>
  unwrap(api.DELETE("/api/v1/processes/{process_id}/drain", { params: { path: { process_id: id } } }));
