import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";

const assistantKeys = { config: ["assistant", "config"] as const };

/** List models for the assistant; without any it is the offline builder. */
export const assistantConfigQuery = queryOptions({
  queryKey: assistantKeys.config,
  queryFn: ({ signal }) => unwrap(api.GET("/api/v1/agentic/check-config", { signal })),
  staleTime: 60_000,
});

/** Stop a turn, wherever it was begun. */
export const stopTurn = (turnId: string) =>
  unwrap(api.POST("/api/v1/agentic/turns/{turn_id}/stop", { params: { path: { turn_id: turnId } } }));

/** Begin a new conversation: the server forgets what it knew of this id, and the components that were made. */
export const resetSession = (sessionId: string) =>
  unwrap(api.POST("/api/v1/agentic/sessions/reset", { params: { query: { session_id: sessionId } } }));

/** Have code checked: what it may reach, and the id to save it with. Nothing is stored. */
export const proposeComponent = (code: string) =>
  unwrap(api.POST("/api/v1/agentic/components/proposals", { body: { code } }));

/** Save a component exactly as it was proposed. */
export const saveComponent = (code: string, proposalId: string) =>
  unwrap(api.POST("/api/v1/agentic/components", { body: { code, proposal_id: proposalId } }));

/** The template of a component's code, checked in the sandbox. */
export const checkComponent = (code: string) => unwrap(api.POST("/api/v1/components/check", { body: { code } }));

/** Figures of what happened in this window; a batch that does not arrive is lost. */
export const reportPageMetrics = (body: components["schemas"]["PageMetrics"]) =>
  void api.POST("/api/v1/agentic/page-metrics", { body, keepalive: true }).catch(() => undefined);
