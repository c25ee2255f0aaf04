import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";

export type SharedAssistant = components["schemas"]["AssistantOut"];
export type NewAssistant = components["schemas"]["AssistantIn"];

export const assistantKeys = {
  all: ["assistants"] as const,
  ofSpace: (spaceId: string) => ["assistants", "space", spaceId] as const,
};

/** The shared assistants that steps of a space's flows may link. */
export const assistantsQuery = (spaceId: string) =>
  queryOptions({
    queryKey: assistantKeys.ofSpace(spaceId),
    queryFn: async ({ signal }) =>
      (await unwrap(api.GET("/api/v1/assistants", { params: { query: { space_id: spaceId, limit: 100 } }, signal })))
        .items,
  });

export const createAssistant = (body: NewAssistant) => unwrap(api.POST("/api/v1/assistants", { body }));
