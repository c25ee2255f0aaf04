import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";

export type ApiKey = components["schemas"]["KeyOut"];

export const apiKeyKeys = {
  all: ["api-keys"] as const,
  of: (userId: string | null) => ["api-keys", userId] as const,
};

/** The keys of the person or a service account, those that were revoked among them; never a secret. */
export const apiKeysQuery = (user_id: string | null = null) =>
  queryOptions({
    queryKey: apiKeyKeys.of(user_id),
    queryFn: async ({ signal }) =>
      (await unwrap(api.GET("/api/v1/api-keys", { params: { query: { limit: 200, user_id } }, signal }))).items,
  });

/** A new key; its answer alone shows the whole of it. */
export const createApiKey = (body: components["schemas"]["KeyIn"]) => unwrap(api.POST("/api/v1/api-keys", { body }));

export const revokeApiKey = (key_id: string) =>
  unwrap(api.DELETE("/api/v1/api-keys/{key_id}", { params: { path: { key_id } } }));
