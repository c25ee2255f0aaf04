import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";

export type KnowledgeSource = components["schemas"]["SourceOut"];
export type SourceIn = components["schemas"]["SourceIn"];

export const sourceKeys = {
  of: (base: string) => ["knowledge", base, "sources"] as const,
  problems: (base: string, id: string) => ["knowledge", base, "sources", id, "problems"] as const,
};

/** How many items that were not understood are read. */
export const MOST_PROBLEMS = 100;
const SYNC_MS = 1000;
export const isSyncing = ({ status }: KnowledgeSource) => status === "pending" || status === "running";

/** The sources of a base, oldest first; read again while one is being synchronised. */
export const sourcesQuery = (base_id: string) =>
  queryOptions({
    queryKey: sourceKeys.of(base_id),
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/knowledge-bases/{base_id}/sources", { params: { path: { base_id } }, signal })),
    refetchInterval: ({ state: { data } }) => (data?.some(isSyncing) ? SYNC_MS : false),
  });

/** The first items of a source that were not understood, with the reasons. */
export const sourceProblemsQuery = (base_id: string, source_id: string) =>
  queryOptions({
    queryKey: sourceKeys.problems(base_id, source_id),
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/v1/knowledge-bases/{base_id}/sources/{source_id}/problems", {
          params: { path: { base_id, source_id }, query: { limit: MOST_PROBLEMS } },
          signal,
        }),
      ),
  });

export const addSource = (base_id: string, body: SourceIn) =>
  unwrap(api.POST("/api/v1/knowledge-bases/{base_id}/sources", { params: { path: { base_id } }, body }));

export type SourceChange = components["schemas"]["SourceChange"];

const at = ({ base_id, id }: KnowledgeSource) => ({ params: { path: { base_id, source_id: id } } });

export const changeSource = (source: KnowledgeSource, body: SourceChange) =>
  unwrap(api.PATCH("/api/v1/knowledge-bases/{base_id}/sources/{source_id}", { ...at(source), body }));

export const syncSource = (source: KnowledgeSource) =>
  unwrap(api.POST("/api/v1/knowledge-bases/{base_id}/sources/{source_id}/sync", at(source)));

export const deleteSource = (source: KnowledgeSource) =>
  unwrap(api.DELETE("/api/v1/knowledge-bases/{base_id}/sources/{source_id}", at(source)));
