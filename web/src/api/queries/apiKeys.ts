import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";

export type ApiKey = components["schemas"]["KeyOut"];

export const apiKeyKeys = { all: ["api-keys"] as const };

/** The person's own keys, those that were revoked among them; never a secret. */
export const apiKeysQuery = queryOptions({
  queryKey: apiKeyKeys.all,
  queryFn: async ({ signal }) =>
    (await unwrap(api.GET("/api/v1/api-keys", { params: { query: { limit: 200 } }, signal }))).items,
});

/** A new key; its answer alone shows the whole of it. */
export const createApiKey = (body: components["schemas"]["KeyIn"]) => unwrap(api.POST("/api/v1/api-keys", { body }));

export const revokeApiKey = (key_id: string) =>
  unwrap(api.DELETE("/api/v1/api-keys/{key_id}", { params: { path: { key_id } } }));
