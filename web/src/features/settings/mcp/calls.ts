import { api, unwrap } from "@/api/client";
import type { components } from "@/api/schema";

export type McpServer = components["schemas"]["McpServerOut"];
export type McpServerIn = components["schemas"]["McpServerIn"];

export const createServer = (body: McpServerIn) => unwrap(api.POST("/api/v1/mcp-servers", { body }));
export const removeServer = (server: string) =>
  unwrap(api.DELETE("/api/v1/mcp-servers/{server}", { params: { path: { server } } }));
export const refreshServer = (server: string) =>
  unwrap(api.POST("/api/v1/mcp-servers/{server}/refresh", { params: { path: { server } } }));
export const testServer = (server: string) =>
  unwrap(api.POST("/api/v1/mcp-servers/{server}/test", { params: { path: { server } } }));
export const switchServer = (server: string, enabled: boolean) =>
  unwrap(api.PATCH("/api/v1/mcp-servers/{server}", { params: { path: { server } }, body: { enabled } }));
export const switchTool = (server: string, name: string, enabled: boolean) =>
  unwrap(
    api.PATCH("/api/v1/mcp-servers/{server}/tools/{name}", { params: { path: { server, name } }, body: { enabled } }),
  );

/** A line `NAME: value` each; a value that names a variable, as `Bearer API_KEY`, sends what it holds. */
export function readPairs(text: string): Record<string, string> | null {
  const found: Record<string, string> = {};
  for (const line of text.split("\n").filter((one) => one.trim())) {
    const at = line.indexOf(":");
    if (at < 1 || !line.slice(at + 1).trim()) return null;
    found[line.slice(0, at).trim()] = line.slice(at + 1).trim();
  }
  return found;
}

/** A command line as its words; quotes hold words together. */
export function readCommand(text: string): string[] {
  return [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? "",
  );
}
