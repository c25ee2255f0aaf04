import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";
import { flowKeys } from "./flows";

export type BulkIn = components["schemas"]["BulkIn"];
export type BulkResult = components["schemas"]["BulkResult"];
export type FlowCollections = components["schemas"]["Collections"];

/** Folders, tags and counts of the flows of a space, or of all. */
export const collectionsQuery = (space: string | undefined) =>
  queryOptions({
    queryKey: [...flowKeys.lists, "collections", space ?? ""] as const,
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/flow-collections", { params: { query: space ? { space_id: space } : {} }, signal })),
    placeholderData: (before) => before,
  });

/** Flows of one request; the server refuses more. */
export const MOST_FLOWS = 200;

/** Move, tag, untag, unpublish, delete or restore up to `MOST_FLOWS` flows; one result each. */
export const changeFlows = async (body: BulkIn): Promise<BulkResult[]> =>
  (await unwrap(api.POST("/api/v1/flow-collections", { body }))).items;

export const setFavourite = (flow_id: string, favourite: boolean) => {
  const path = { params: { path: { flow_id } } };
  return favourite
    ? unwrap(api.PUT("/api/v1/flows/{flow_id}/favourite", path))
    : unwrap(api.DELETE("/api/v1/flows/{flow_id}/favourite", path));
};
