import { infiniteQueryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";

export type AuditEntry = components["schemas"]["AuditOut"];
export interface AuditFilter {
  actor: string;
  action: string;
}

const auditKeys = { list: (filter: AuditFilter) => ["audit", filter] as const };

/** Who changed what, newest first, page by page. */
export const auditQuery = (filter: AuditFilter) =>
  infiniteQueryOptions({
    queryKey: auditKeys.list(filter),
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        api.GET("/api/v1/audit", {
          params: {
            query: { actor: filter.actor || null, action: filter.action || null, limit: 50, cursor: pageParam },
          },
          signal,
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
  });

/** Go along the whole chain. */
export const verifyAudit = () => unwrap(api.GET("/api/v1/audit/verify"));
