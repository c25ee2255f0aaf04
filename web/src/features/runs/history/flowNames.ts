import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "@/api/client";
import { flowKeys } from "@/api/queries/flows";

const MOST_PAGES = 5;

/** Flow id to name, of the flows that the caller sees: what a list of runs calls them. */
export const flowNamesQuery = queryOptions({
  queryKey: [...flowKeys.lists, "names"] as const,
  queryFn: async ({ signal }) => {
    const names: Record<string, string> = {};
    let cursor: string | null = null;
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const query = { limit: 100, ...(cursor ? { cursor } : {}) };
      const found: { items: { id: string; name: string }[]; next_cursor?: string | null } = await unwrap(
        api.GET("/api/v1/flows", { params: { query }, signal }),
      );
      for (const flow of found.items) names[flow.id] = flow.name;
      cursor = found.next_cursor ?? null;
      if (!cursor) break;
    }
    return names;
  },
  staleTime: 60_000,
});
