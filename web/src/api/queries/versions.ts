import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";
import { flowKeys } from "./flows";

export type VersionSummary = components["schemas"]["VersionSummary"];
export type VersionFigures = components["schemas"]["VersionFigures"];
export type DryRunOut = components["schemas"]["DryRunOut"];
/** A version by its number, or the draft. */
export type Side = number | "draft";

export const versionKeys = {
  all: flowKeys.versions,
  list: (id: string) => [...flowKeys.versions(id), "list"] as const,
  figures: (id: string) => [...flowKeys.versions(id), "figures"] as const,
  one: (id: string, version: number) => [...flowKeys.versions(id), version] as const,
  diff: (id: string, before: Side, after: Side, revision: number) =>
    [...flowKeys.versions(id), "diff", before, after, revision] as const,
  dryRun: (id: string, revision: number) => [...flowKeys.one(id), "dry-run", revision] as const,
};

/** Versions of a flow, newest first, page by page. */
export const versionsQuery = (flowId: string) =>
  infiniteQueryOptions({
    queryKey: versionKeys.list(flowId),
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        api.GET("/api/v1/flows/{flow_id}/versions", {
          params: { path: { flow_id: flowId }, query: { limit: 25, ...(pageParam ? { cursor: pageParam } : {}) } },
          signal,
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: (page) => (page.next_cursor ? Number(page.next_cursor) : undefined),
  });

/** Who made each version, and how often it ran. */
export const versionFiguresQuery = (flowId: string) =>
  queryOptions({
    queryKey: versionKeys.figures(flowId),
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/flows/{flow_id}/version-figures", { params: { path: { flow_id: flowId } }, signal })),
  });

/** A version with its content, which never changes. */
export const versionQuery = (flowId: string, version: number) =>
  queryOptions({
    queryKey: versionKeys.one(flowId, version),
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/v1/flows/{flow_id}/versions/{version}", {
          params: { path: { flow_id: flowId, version } },
          signal,
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** What changed from one version, or the draft of this revision, to another. */
export const diffQuery = (flowId: string, before: Side, after: Side, revision: number) =>
  queryOptions({
    queryKey: versionKeys.diff(flowId, before, after, revision),
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/v1/flows/{flow_id}/versions/{before}..{after}", {
          params: { path: { flow_id: flowId, before, after } },
          signal,
        }),
      ),
  });

/** What a run of the saved draft would do and need; nothing is run. */
export const dryRunQuery = (flowId: string, revision: number) =>
  queryOptions({
    queryKey: versionKeys.dryRun(flowId, revision),
    queryFn: ({ signal }) =>
      unwrap(
        api.POST("/api/v1/flows/{flow_id}/dry-run", {
          params: { path: { flow_id: flowId } },
          body: { version: "draft" },
          signal,
        }),
      ),
  });

export const publish = (flowId: string, notes: string) =>
  unwrap(api.POST("/api/v1/flows/{flow_id}/publish", { params: { path: { flow_id: flowId } }, body: { notes } }));
