import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";

export const flowKeys = {
  all: ["flows"] as const,
  lists: ["flows", "list"] as const,
  /** Of the lists, those that arrive page by page. */
  pages: ["flows", "list", "pages"] as const,
  one: (id: string) => ["flows", "one", id] as const,
  versions: (id: string) => ["flows", "one", id, "versions"] as const,
};

/** One flow with its draft and what keeps the draft from running. */
export const flowQuery = (id: string) =>
  queryOptions({
    queryKey: flowKeys.one(id),
    queryFn: ({ signal }) => unwrap(api.GET("/api/v1/flows/{flow_id}", { params: { path: { flow_id: id } }, signal })),
  });

/** The form of a flow as its draft has it now. */
export const formQuery = (id: string) =>
  queryOptions({
    queryKey: [...flowKeys.one(id), "form"] as const,
    queryFn: async ({ signal }) => {
      const flow = await unwrap(api.GET("/api/v1/flows/{flow_id}", { params: { path: { flow_id: id } }, signal }));
      return flow.definition.form ?? [];
    },
    staleTime: 0,
  });

/** Make another member of the flow's space its owner. */
export const changeOwner = (flow_id: string, user_id: string) =>
  unwrap(api.PUT("/api/v1/flows/{flow_id}/owner", { params: { path: { flow_id } }, body: { user_id } }));
