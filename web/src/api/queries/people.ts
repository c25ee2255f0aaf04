import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";

export type Person = components["schemas"]["UserOut"];
export type Role = components["schemas"]["Role"];

export const peopleKeys = {
  all: ["people"] as const,
  services: ["people", "services"] as const,
  members: (spaceId: string) => ["people", "of", spaceId] as const,
};

/** Everybody of the organisation. */
export const peopleQuery = queryOptions({
  queryKey: peopleKeys.all,
  queryFn: async ({ signal }) =>
    (await unwrap(api.GET("/api/v1/users", { params: { query: { limit: 200 } }, signal }))).items,
});

/** The service accounts of the organisation. */
export const servicesQuery = queryOptions({
  queryKey: peopleKeys.services,
  queryFn: async ({ signal }) =>
    (await unwrap(api.GET("/api/v1/users", { params: { query: { limit: 200, kind: "service" } }, signal }))).items,
});

/** Who is in a space, and what each may do there. */
export const membersQuery = (space_id: string) =>
  queryOptions({
    queryKey: peopleKeys.members(space_id),
    queryFn: async ({ signal }) =>
      (
        await unwrap(
          api.GET("/api/v1/spaces/{space_id}/members", {
            params: { path: { space_id }, query: { limit: 200 } },
            signal,
          }),
        )
      ).items,
  });

export const invitePerson = (body: components["schemas"]["UserIn"]) => unwrap(api.POST("/api/v1/users", { body }));

export const createService = (body: components["schemas"]["ServiceAccountIn"]) =>
  unwrap(api.POST("/api/v1/users/service-accounts", { body }));

export const changePerson = (user_id: string, body: components["schemas"]["UserPatch"]) =>
  unwrap(api.PATCH("/api/v1/users/{user_id}", { params: { path: { user_id } }, body }));

export const deletePerson = (user_id: string) =>
  unwrap(api.DELETE("/api/v1/users/{user_id}", { params: { path: { user_id } } }));

export const makePasswordLink = (user_id: string) =>
  unwrap(api.POST("/api/v1/users/{user_id}/password-link", { params: { path: { user_id } } }));

export const putMember = (space_id: string, user_id: string, role: Role) =>
  unwrap(
    api.PUT("/api/v1/spaces/{space_id}/members/{user_id}", { params: { path: { space_id, user_id } }, body: { role } }),
  );

export const removeMember = (space_id: string, user_id: string) =>
  unwrap(api.DELETE("/api/v1/spaces/{space_id}/members/{user_id}", { params: { path: { space_id, user_id } } }));

export const createSpace = (name: string) => unwrap(api.POST("/api/v1/spaces", { body: { name } }));
export const deleteSpace = (space_id: string) =>
  unwrap(api.DELETE("/api/v1/spaces/{space_id}", { params: { path: { space_id } } }));
export const renameSpace = (space_id: string, name: string) =>
  unwrap(api.PATCH("/api/v1/spaces/{space_id}", { params: { path: { space_id } }, body: { name } }));
