import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";

export type SavedView = components["schemas"]["SavedView"];
export type ViewPlace = SavedView["place"];
export type ViewSettings = components["schemas"]["ViewSettings"];

export const savedViewKeys = { of: (place: ViewPlace) => ["saved-views", place] as const };

/** The views of a list that the user has saved, by name. The one without a name is what the page remembers. */
export const savedViewsQuery = (place: ViewPlace) =>
  queryOptions({
    queryKey: savedViewKeys.of(place),
    queryFn: async ({ signal }) =>
      (await unwrap(api.GET("/api/v1/saved-views", { params: { query: { place } }, signal }))).items,
    staleTime: 5 * 60_000,
  });

export const saveView = (body: components["schemas"]["SavedViewIn"]) =>
  unwrap(api.PUT("/api/v1/saved-views", { body }));

export const deleteView = (view_id: string) =>
  unwrap(api.DELETE("/api/v1/saved-views/{view_id}", { params: { path: { view_id } } }));
