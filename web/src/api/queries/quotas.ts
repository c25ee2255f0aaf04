import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";

export type Quota = components["schemas"]["QuotaOut"];
export type QuotaChange = components["schemas"]["QuotaIn"];

export const quotaKeys = { all: ["quotas"] as const };

/** Limits of the organisation, its spaces and visitors, with what is used of them. */
export const quotasQuery = queryOptions({
  queryKey: quotaKeys.all,
  queryFn: async ({ signal }) => (await unwrap(api.GET("/api/v1/quotas", { signal }))).items,
  refetchInterval: 10_000,
});

export const setQuota = (body: QuotaChange) => unwrap(api.PUT("/api/v1/quotas", { body }));
