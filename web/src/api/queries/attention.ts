import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components, operations } from "../schema";

export type AttentionItem = components["schemas"]["AttentionItem"];
export type Attention = components["schemas"]["AttentionOut"];
export type AttentionKind = AttentionItem["kind"];
export type AttentionResult = components["schemas"]["AttentionResult"];
export type AttentionResults = components["schemas"]["AttentionResults"];
export type AttentionAction = components["schemas"]["AttentionActionIn"];
export type AttentionFilter = NonNullable<operations["read_api_v1_attention_get"]["parameters"]["query"]>;

const REFRESH_MS = 60_000;

export const allAttention = { queryKey: ["attention"] as const };

/** What needs a human; read again every minute. */
export const attentionQuery = (filter: AttentionFilter = {}) =>
  queryOptions({
    queryKey: [...allAttention.queryKey, filter] as const,
    queryFn: ({ signal }) => unwrap(api.GET("/api/v1/attention", { params: { query: filter }, signal })),
    staleTime: REFRESH_MS / 2,
    refetchInterval: REFRESH_MS,
  });

/** Acts on items, or on the runs, deliveries and triggers behind them; one result each. */
export const actOnAttention = (body: AttentionAction) => unwrap(api.POST("/api/v1/attention/actions", { body }));
