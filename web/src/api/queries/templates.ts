import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";

export const templateKeys = {
  all: ["templates"] as const,
  list: (q: string) => ["templates", "list", q] as const,
  one: (id: string) => ["templates", "one", id] as const,
  needs: (id: string) => ["templates", "one", id, "needs"] as const,
};

/** Ready-made flows, best match first. */
export const templatesQuery = (q: string) =>
  queryOptions({
    queryKey: templateKeys.list(q),
    queryFn: ({ signal }) => unwrap(api.GET("/api/v1/templates", { params: { query: q ? { q } : {} }, signal })),
    staleTime: 10 * 60_000,
    placeholderData: (before) => before,
  });

/** One of them with its content. */
export const templateQuery = (id: string) =>
  queryOptions({
    queryKey: templateKeys.one(id),
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/templates/{template_id}", { params: { path: { template_id: id } }, signal })),
    staleTime: 10 * 60_000,
  });

/** What a text or file would use, read without running it. */
export const importReport = (content: string) => unwrap(api.POST("/api/v1/flows/import/report", { body: { content } }));
