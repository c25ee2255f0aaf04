import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";

export type RegistryServer = components["schemas"]["RegistryServer"];

export const mcpServerKeys = {
  all: ["mcp-servers"] as const,
  /** The lists alone: the tools of a server that was just deleted are not asked for again. */
  lists: ["mcp-servers", "space"] as const,
  ofSpace: (spaceId: string) => ["mcp-servers", "space", spaceId] as const,
  tools: (server: string) => ["mcp-servers", "tools", server] as const,
};

/** MCP servers that flows of a space may use. */
export const mcpServersQuery = (spaceId: string) =>
  queryOptions({
    queryKey: mcpServerKeys.ofSpace(spaceId),
    queryFn: async ({ signal }) =>
      (await unwrap(api.GET("/api/v1/mcp-servers", { params: { query: { space_id: spaceId } }, signal }))).items,
  });

/** What a server, by its id, offered when it was last asked. */
export const mcpToolsQuery = (server: string) =>
  queryOptions({
    queryKey: mcpServerKeys.tools(server),
    queryFn: async ({ signal }) =>
      (await unwrap(api.GET("/api/v1/mcp-servers/{server}/tools", { params: { path: { server } }, signal }))).items,
  });

/** Servers of the operator's registry whose name contains a text. */
export const mcpRegistryQuery = (search: string) =>
  queryOptions({
    queryKey: ["mcp-registry", search],
    queryFn: async ({ signal }) => unwrap(api.GET("/api/v1/mcp-registry", { params: { query: { search } }, signal })),
    staleTime: 60_000,
  });
