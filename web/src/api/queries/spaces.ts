import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";

export type Space = components["schemas"]["SpaceOut"];

export const spaceKeys = { all: ["spaces"] as const };

/** The spaces that the person sees, oldest first. */
export const spacesQuery = queryOptions({
  queryKey: spaceKeys.all,
  queryFn: async ({ signal }) =>
    (await unwrap(api.GET("/api/v1/spaces", { params: { query: { limit: 200 } }, signal }))).items,
  staleTime: 60_000,
});
