import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";

export type RunStatistics = components["schemas"]["RunStatistics"];
export const RANGES = ["24h", "7d", "30d", "90d"] as const;
export type Range = (typeof RANGES)[number];

const statisticsKeys = {
  of: (range: Range, spaceId: string | null) => ["run-statistics", range, spaceId] as const,
};

/** How runs went in a time up to now, and in the same time before it. */
export const statisticsQuery = (range: Range, spaceId: string | null) =>
  queryOptions({
    queryKey: statisticsKeys.of(range, spaceId),
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/run-statistics", { params: { query: { range, space_id: spaceId } }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  });
