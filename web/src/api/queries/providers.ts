import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";

export const providerKeys = { all: ["providers"] as const };

/** Every provider of models: whether it is ready, what it needs to be told, how it is installed. */
export const providersQuery = queryOptions({
  queryKey: providerKeys.all,
  queryFn: ({ signal }) => unwrap(api.GET("/api/v1/providers", { signal })),
  staleTime: 60_000,
});

/** One real and cheap call to a provider. One that fails is an answer too. */
export const testProvider = (provider: string, model: string | null = null) =>
  unwrap(api.POST("/api/v1/providers/{provider}/test", { params: { path: { provider } }, body: { model } }));
