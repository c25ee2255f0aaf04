import { api, unwrap } from "@/api/client";
import type { components } from "@/api/schema";

export type McpServer = components["schemas"]["McpServerOut"];
export type McpTool = components["schemas"]["McpToolOut"];
export type Sampling = Required<components["schemas"]["Sampling"]>;
export type ProgramAccess = Required<components["schemas"]["ProgramAccess"]>;
export type McpServerIn = components["schemas"]["McpServerIn"];

export const NO_ACCESS: ProgramAccess = { hosts: [], read: [], write: [] };

export const createServer = (body: McpServerIn) => unwrap(api.POST("/api/v1/mcp-servers", { body }));
export const removeServer = (server: string) =>
  unwrap(api.DELETE("/api/v1/mcp-servers/{server}", { params: { path: { server } } }));
export const refreshServer = (server: string) =>
  unwrap(api.POST("/api/v1/mcp-servers/{server}/refresh", { params: { path: { server } } }));
export const testServer = (server: string) =>
  unwrap(api.POST("/api/v1/mcp-servers/{server}/test", { params: { path: { server } } }));
/** Begins an authorization by OAuth 2.1: the returned address is the provider's page. */
export const authorizeServer = (server: string) =>
  unwrap(api.POST("/api/v1/mcp-servers/{server}/authorize", { params: { path: { server } }, body: {} }));
/** Accepts descriptions that were seen, by name and hash. */
export const acceptTools = (server: string, tools: Record<string, string>) =>
  unwrap(api.POST("/api/v1/mcp-servers/{server}/tools/accept", { params: { path: { server } }, body: { tools } }));
export const switchServer = (server: string, enabled: boolean) =>
  unwrap(api.PATCH("/api/v1/mcp-servers/{server}", { params: { path: { server } }, body: { enabled } }));
/** Chooses the model that answers requests of a server; null for none. */
export const changeSampling = (server: string, sampling: Sampling | null) =>
  unwrap(api.PATCH("/api/v1/mcp-servers/{server}", { params: { path: { server } }, body: { sampling } }));
/** Replaces the hosts and folders of a program. */
export const changeAccess = (server: string, access: ProgramAccess) =>
  unwrap(
    api.PATCH("/api/v1/mcp-servers/{server}", { params: { path: { server } }, body: { access: withoutEmpty(access) } }),
  );
/** Leaves out the lines that were not filled in. */
export const withoutEmpty = ({ hosts, read, write }: ProgramAccess): ProgramAccess => {
  const [filledHosts = [], filledRead = [], filledWrite = []] = [hosts, read, write].map((entries) =>
    entries.map((entry) => entry.trim()).filter(Boolean),
  );
  return { hosts: filledHosts, read: filledRead, write: filledWrite };
};
export const switchTool = (server: string, name: string, enabled: boolean) =>
  unwrap(
    api.PATCH("/api/v1/mcp-servers/{server}/tools/{name}", { params: { path: { server, name } }, body: { enabled } }),
  );

/** A command line as its words; quotes hold words together. */
export function readCommand(text: string): string[] {
  return [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? "",
  );
}
