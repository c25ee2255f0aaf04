import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";

export const modelKeys = { all: ["models"] as const, classes: ["model-classes"] as const };

/** The models of each provider, as its server lists them. Any other name of a provider's works too. */
export const modelsQuery = queryOptions({
  queryKey: modelKeys.all,
  queryFn: ({ signal }) => unwrap(api.GET("/api/v1/models", { signal })),
  staleTime: 5 * 60_000,
});

/** The same, asked of the servers anew. */
export const askForModels = () => unwrap(api.GET("/api/v1/models", { params: { query: { refresh: true } } }));

/** The security classes there are, and the class of each model that has one of its own. */
export const modelClassesQuery = queryOptions({
  queryKey: modelKeys.classes,
  queryFn: ({ signal }) => unwrap(api.GET("/api/v1/model-classes", { signal })),
  staleTime: 60_000,
});
