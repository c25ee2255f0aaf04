import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";

/** What waits for the user, for the badges of the sidebar: apart, so that the start loads nothing else of those places. */

export const APPROVAL_COUNT = ["approvals", "count"] as const;
export const CODEV_WAITING = ["codev", "waiting"] as const;
const MOST_COUNTED = 20;
const STALE_MS = 5_000;
const BADGE_MS = 15_000;
const SESSIONS_MS = 60_000;

/** How many approvals wait for the user, at most 100; asked for again and again. */
export const approvalCountQuery = queryOptions({
  queryKey: APPROVAL_COUNT,
  queryFn: async ({ signal }) => (await unwrap(api.GET("/api/v1/approvals/count", { signal }))).pending,
  staleTime: STALE_MS,
  refetchInterval: BADGE_MS,
});

/** Development sessions that wait for somebody, at most so many. */
export const codevWaitingQuery = queryOptions({
  queryKey: CODEV_WAITING,
  queryFn: async ({ signal }) =>
    (
      await unwrap(
        api.GET("/api/v1/codev/sessions", {
          params: { query: { limit: MOST_COUNTED, status: "pending_interrupt" } },
          signal,
        }),
      )
    ).items,
  staleTime: SESSIONS_MS / 2,
  refetchInterval: SESSIONS_MS,
});
