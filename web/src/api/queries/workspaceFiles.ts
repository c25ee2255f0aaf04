import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";

export const workspaceKeys = {
  all: ["workspace"] as const,
  files: (area: Area) => ["workspace", "files", area] as const,
  text: (area: Area, path: string) => ["workspace", "text", area, path] as const,
};
/** Files of the assistant and of MCP clients, or those of flows that the person starts. */
export type Area = "assistant" | "flows";

export const workspaceFilesQuery = (area: Area) =>
  queryOptions({
    queryKey: workspaceKeys.files(area),
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/workspace/files", { params: { query: { area, limit: 200 } }, signal })),
  });

export const workspaceTextQuery = (area: Area, path: string) =>
  queryOptions({
    queryKey: workspaceKeys.text(area, path),
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/workspace/files/content", { params: { query: { area, path } }, signal })),
    retry: false,
  });

export const writeWorkspaceFile = (area: Area, path: string, text: string) =>
  unwrap(api.PUT("/api/v1/workspace/files/content", { params: { query: { area, path } }, body: { text } }));

export const deleteWorkspaceFile = (area: Area, path: string) =>
  unwrap(api.DELETE("/api/v1/workspace/files/content", { params: { query: { area, path } } }));

export const workspaceDownload = (area: Area, path: string) =>
  `/api/v1/workspace/files/download?${new URLSearchParams({ area, path })}`;
