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
    queryFn: async ({ signal }) => {
      const query = { limit: 200 };
      return (
        await unwrap(
          user_id === null
            ? api.GET("/api/v1/api-keys", { params: { query }, signal })
            : api.GET("/api/v1/users/{user_id}/api-keys", { params: { path: { user_id }, query }, signal }),
        )
      ).items;
    },
  });

/** A new key of the person or a service account; its answer alone shows the whole of it. */
export const createApiKey = (user_id: string | undefined, body: components["schemas"]["KeyIn"]) =>
  unwrap(
    user_id === undefined
      ? api.POST("/api/v1/api-keys", { body })
      : api.POST("/api/v1/users/{user_id}/api-keys", { params: { path: { user_id } }, body }),
  );

export const revokeApiKey = (key_id: string) =>
  unwrap(api.DELETE("/api/v1/api-keys/{key_id}", { params: { path: { key_id } } }));
