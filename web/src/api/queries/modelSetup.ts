import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";

export type ModelServer = components["schemas"]["ModelServerOut"];
export type ModelServerIn = components["schemas"]["ModelServerIn"];
export type ServerTest = components["schemas"]["ServerTestOut"];
export type RoleState = components["schemas"]["RoleReadiness"];
export type RoleName = components["schemas"]["ModelRole"];
export type RoleModel = components["schemas"]["RoleModelIn"];
export type LocalModel = components["schemas"]["LocalModelOut"];
export type ModelFacts = components["schemas"]["ModelFacts"];

export const setupKeys = {
  servers: ["model-servers"] as const,
  roles: ["model-roles"] as const,
  local: ["local-models"] as const,
  facts: ["model-facts"] as const,
};
const FETCHING_MS = 1_000;

/** The model servers that you see, and the kinds there are. */
export const modelServersQuery = queryOptions({
  queryKey: setupKeys.servers,
  queryFn: ({ signal }) => unwrap(api.GET("/api/v1/model-servers", { signal })),
});

/** Which model has which role, and whether it can answer. */
export const modelRolesQuery = queryOptions({
  queryKey: setupKeys.roles,
  queryFn: async ({ signal }) => (await unwrap(api.GET("/api/v1/model-roles", { signal }))).items,
});

/** Every model that is offered or hidden. */
export const modelFactsQuery = queryOptions({
  queryKey: setupKeys.facts,
  queryFn: ({ signal }) => unwrap(api.GET("/api/v1/model-facts", { signal })),
});

/** Models that run inside Headgate; asked every second while one is fetched. */
export const localModelsQuery = queryOptions({
  queryKey: setupKeys.local,
  queryFn: ({ signal }) => unwrap(api.GET("/api/v1/local-models", { signal })),
  refetchInterval: ({ state }) => (state.data?.some(({ fetching }) => fetching) ? FETCHING_MS : false),
});

const whose = (spaceId: string | null) => (spaceId === null ? { organisation: true } : { space_id: spaceId });

/** Connects a server, of the organisation where no space is named, or changes it. */
export const putServer = (name: string, body: ModelServerIn, spaceId: string | null = null) =>
  unwrap(api.PUT("/api/v1/model-servers/{name}", { params: { path: { name }, query: whose(spaceId) }, body }));

export const removeServer = ({ name, space_id }: ModelServer) =>
  unwrap(api.DELETE("/api/v1/model-servers/{name}", { params: { path: { name }, query: whose(space_id) } }));

/** Its list of models, and one short completion. A server that fails is an answer too. */
export const testServer = (name: string) =>
  unwrap(api.POST("/api/v1/model-servers/{name}/test", { params: { path: { name } }, body: {} }));

export const putRole = (role: RoleName, models: RoleModel[]) =>
  unwrap(api.PUT("/api/v1/model-roles/{role}", { params: { path: { role } }, body: { models } }));

export const removeRole = (role: RoleName) =>
  unwrap(api.DELETE("/api/v1/model-roles/{role}", { params: { path: { role } } }));

export const putFacts = (provider: string, name: string, body: ModelFacts) =>
  unwrap(api.PUT("/api/v1/model-facts/{provider}/{name}", { params: { path: { provider, name } }, body }));

export const fetchLocal = (name: string) =>
  unwrap(api.POST("/api/v1/local-models/{name}/fetch", { params: { path: { name } } }));

export const stopLocal = (name: string) =>
  unwrap(api.DELETE("/api/v1/local-models/{name}/fetch", { params: { path: { name } } }));
