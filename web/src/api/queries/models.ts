import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";

export const modelKeys = { all: ["models"] as const, classes: ["model-classes"] as const };

/** Known models with what they can do. Any other name of a provider's works too. */
export const modelsQuery = queryOptions({
  queryKey: modelKeys.all,
  queryFn: ({ signal }) => unwrap(api.GET("/api/v1/models", { signal })),
  staleTime: 5 * 60_000,
});

/** The security classes there are, and the class of each model that has one of its own. */
export const modelClassesQuery = queryOptions({
  queryKey: modelKeys.classes,
  queryFn: ({ signal }) => unwrap(api.GET("/api/v1/model-classes", { signal })),
  staleTime: 60_000,
});
