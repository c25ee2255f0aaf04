import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";

export type MaintenanceState = components["schemas"]["MaintenanceOut"];
export type MaintenanceJob = components["schemas"]["JobOut"];

export const maintenanceKeys = {
  all: ["maintenance"] as const,
  preview: (job: string) => ["maintenance-preview", job] as const,
};

/** The retention policy and the outcome of the last run of each job. */
export const maintenanceQuery = queryOptions({
  queryKey: maintenanceKeys.all,
  queryFn: ({ signal }) => unwrap(api.GET("/api/v1/maintenance", { signal })),
  refetchInterval: 30_000,
});

export const runJob = (job: string) => unwrap(api.POST("/api/v1/maintenance/{job}/run", { params: { path: { job } } }));

/** What a job would delete now. */
export const jobPreviewQuery = (job: string) =>
  queryOptions({
    queryKey: maintenanceKeys.preview(job),
    queryFn: ({ signal }) =>
      unwrap(
        api.POST("/api/v1/maintenance/{job}/run", { params: { path: { job }, query: { dry_run: true } }, signal }),
      ),
    staleTime: 0,
    gcTime: 0,
  });
