import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";
import type { Role } from "./people";

export type Directory = components["schemas"]["DirectoryOut"];
export type DirectoryGroup = components["schemas"]["GroupOut"];

export const directoryKeys = {
  all: ["directory"] as const,
  groups: ["directory", "groups"] as const,
};

/** The organisation's directory: its address, token and what it has synchronized. */
export const directoryQuery = queryOptions({
  queryKey: directoryKeys.all,
  queryFn: ({ signal }) => unwrap(api.GET("/api/v1/directory", { signal })),
});

/** The groups of the directory with the roles that they give. */
export const directoryGroupsQuery = queryOptions({
  queryKey: directoryKeys.groups,
  queryFn: async ({ signal }) =>
    (await unwrap(api.GET("/api/v1/directory/groups", { params: { query: { limit: 200 } }, signal }))).items,
});

export const createDirectoryToken = (networks: string[] | null) =>
  unwrap(api.POST("/api/v1/directory/token", { body: { networks } }));

export const revokeDirectoryToken = () => unwrap(api.DELETE("/api/v1/directory/token"));

export const setGroupRole = (group_id: string, space_id: string, role: Role) =>
  unwrap(
    api.PUT("/api/v1/directory/groups/{group_id}/roles/{space_id}", {
      params: { path: { group_id, space_id } },
      body: { role },
    }),
  );

export const removeGroupRole = (group_id: string, space_id: string) =>
  unwrap(
    api.DELETE("/api/v1/directory/groups/{group_id}/roles/{space_id}", { params: { path: { group_id, space_id } } }),
  );
