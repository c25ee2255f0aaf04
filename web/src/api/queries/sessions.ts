import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";

export const sessionKeys = { all: ["sessions"] as const };

/** Where one is signed in. */
export const sessionsQuery = queryOptions({
  queryKey: sessionKeys.all,
  queryFn: async ({ signal }) => (await unwrap(api.GET("/api/v1/me/sessions", { signal }))).items,
});

export const endSession = (session_id: string) =>
  unwrap(api.DELETE("/api/v1/me/sessions/{session_id}", { params: { path: { session_id } } }));

export const endOtherSessions = () => unwrap(api.DELETE("/api/v1/me/sessions"));

/** Signs somebody out everywhere, for an admin. */
export const endSessionsOf = (user_id: string) =>
  unwrap(api.DELETE("/api/v1/users/{user_id}/sessions", { params: { path: { user_id } } }));

export const changePassword = (current: string, next: string) =>
  unwrap(api.POST("/api/v1/me/password", { body: { current, new: next } }));
