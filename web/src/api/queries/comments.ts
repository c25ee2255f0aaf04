import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";

export type FlowComment = components["schemas"]["CommentOut"];
type CommentIn = components["schemas"]["CommentIn"];
type CommentPatch = components["schemas"]["CommentPatch"];

export const commentKeys = { of: (flowId: string) => ["comments", flowId] as const };

/** The comments on a flow and its nodes, oldest first. */
export const commentsQuery = (flow_id: string) =>
  queryOptions({
    queryKey: commentKeys.of(flow_id),
    queryFn: async ({ signal }) =>
      (await unwrap(api.GET("/api/v1/flows/{flow_id}/comments", { params: { path: { flow_id } }, signal }))).items,
  });

export const addComment = (flow_id: string, body: CommentIn) =>
  unwrap(api.POST("/api/v1/flows/{flow_id}/comments", { params: { path: { flow_id } }, body }));

export const changeComment = (flow_id: string, comment_id: string, body: CommentPatch) =>
  unwrap(
    api.PATCH("/api/v1/flows/{flow_id}/comments/{comment_id}", { params: { path: { flow_id, comment_id } }, body }),
  );

export const deleteComment = (flow_id: string, comment_id: string) =>
  unwrap(api.DELETE("/api/v1/flows/{flow_id}/comments/{comment_id}", { params: { path: { flow_id, comment_id } } }));
