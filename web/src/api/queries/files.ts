import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";

export const fileKeys = {
  all: ["files"] as const,
  one: (id: string) => ["files", "one", id] as const,
  ofRun: (runId: string) => ["files", "run", runId] as const,
};

/** The record of a stored file; a file never changes. */
export const fileQuery = (id: string) =>
  queryOptions({
    queryKey: fileKeys.one(id),
    queryFn: ({ signal }) => unwrap(api.GET("/api/v1/files/{file_id}", { params: { path: { file_id: id } }, signal })),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Uploads of the person and files of runs they see, newest first. */
export const filesQuery = queryOptions({
  queryKey: [...fileKeys.all, "list"] as const,
  queryFn: async ({ signal }) =>
    (await unwrap(api.GET("/api/v1/files", { params: { query: { limit: 50 } }, signal }))).items,
});
