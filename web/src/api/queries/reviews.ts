import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";

type Schemas = components["schemas"];
export type Review = Schemas["ReviewOut"];

export const linkKeys = { of: (approvalId: string) => ["approvals", "links", approvalId] as const };

/** What a one-time link asks. Reading decides nothing. */
export const reviewQuery = (token: string) =>
  queryOptions({
    queryKey: ["review"],
    queryFn: ({ signal }) => unwrap(api.POST("/api/v1/reviews/read", { body: { token }, signal })),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });

export const decideReview = (body: Schemas["ReviewDecisionIn"]) => unwrap(api.POST("/api/v1/reviews/decide", { body }));

/** The one-time links of an approval. */
export const linksQuery = (approvalId: string) =>
  queryOptions({
    queryKey: linkKeys.of(approvalId),
    queryFn: async ({ signal }) =>
      (
        await unwrap(
          api.GET("/api/v1/approvals/{approval_id}/links", { params: { path: { approval_id: approvalId } }, signal }),
        )
      ).items,
  });

export const createLink = (approvalId: string, recipient: string, send: boolean) =>
  unwrap(
    api.POST("/api/v1/approvals/{approval_id}/links", {
      params: { path: { approval_id: approvalId } },
      body: { recipient, hours: 72, send },
    }),
  );

export const deleteLink = (approvalId: string, linkId: string) =>
  unwrap(
    api.DELETE("/api/v1/approvals/{approval_id}/links/{link_id}", {
      params: { path: { approval_id: approvalId, link_id: linkId } },
    }),
  );
