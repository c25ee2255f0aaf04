import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";

export type AttentionItem = components["schemas"]["AttentionItem"];
export type Attention = components["schemas"]["AttentionOut"];

const REFRESH_MS = 60_000;

const attentionKeys = {
  of: (spaceId: string | null) => ["attention", spaceId] as const,
  all: ["attention"] as const,
};

/** What needs a human, of one space or of all; read again every minute. */
export const attentionQuery = (spaceId: string | null = null) =>
  queryOptions({
    queryKey: attentionKeys.of(spaceId),
    queryFn: ({ signal }) => unwrap(api.GET("/api/v1/attention", { params: { query: { space_id: spaceId } }, signal })),
    staleTime: REFRESH_MS / 2,
    refetchInterval: REFRESH_MS,
  });

export const allAttention = { queryKey: attentionKeys.all };

/** Hides an item for the user until it happens again, or shows it again. */
export const setDismissed = (key: string, dismissed: boolean) =>
  unwrap(api.PUT("/api/v1/attention/dismissed", { body: { key, dismissed } }));
