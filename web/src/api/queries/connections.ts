import { queryOptions } from "@tanstack/react-query";
import { servedWords, type Translate } from "@/lib/i18n/served";
import { api, unwrap } from "../client";
import type { components } from "../schema";

export type Connection = components["schemas"]["SpaceConnectionOut"];
export type ConnectionIn = components["schemas"]["SpaceConnectionIn"];
export type ConnectionPatch = components["schemas"]["SpaceConnectionPatch"];
export type ConnectionKind = components["schemas"]["KindOut"];
export type KindField = components["schemas"]["KindFieldOut"];

export const connectionKeys = {
  all: ["connections"] as const,
  ofSpace: (spaceId: string) => ["connections", "space", spaceId] as const,
  uses: (id: string) => ["connections", "uses", id] as const,
  kinds: ["connection-kinds"] as const,
};

/** Connections that flows of a space (null: of any space) may use, and the reader's own ones. */
export const connectionsQuery = (spaceId: string | null) =>
  queryOptions({
    queryKey: connectionKeys.ofSpace(spaceId ?? "*"),
    queryFn: async ({ signal }) =>
      (
        await unwrap(
          api.GET("/api/v1/connections", { params: { query: spaceId ? { space_id: spaceId } : {} }, signal }),
        )
      ).items,
    enabled: spaceId !== "",
  });

/** Flows that name a connection. */
export const connectionUsesQuery = (id: string) =>
  queryOptions({
    queryKey: connectionKeys.uses(id),
    queryFn: async ({ signal }) =>
      (
        await unwrap(
          api.GET("/api/v1/connections/{connection}/flows", { params: { path: { connection: id } }, signal }),
        )
      ).items,
  });

/** Kinds of connections, in the reader's language. */
export const connectionKindsQuery = queryOptions({
  queryKey: connectionKeys.kinds,
  queryFn: async ({ signal }) => {
    const [page, translate] = await Promise.all([
      unwrap(api.GET("/api/v1/connections/kinds", { signal })),
      servedWords(),
    ]);
    return page.items.map((kind) => kindInLanguage(kind, translate));
  },
  staleTime: 10 * 60_000,
});

/** A kind in the reader's language; it is found by its English name too. */
function kindInLanguage(kind: ConnectionKind, translate: Translate): ConnectionKind {
  const label = translate(kind.label);
  return {
    ...kind,
    label,
    description: translate(kind.description),
    keywords: label === kind.label ? kind.keywords : [...kind.keywords, kind.label],
    fields: kind.fields.map((field) => ({
      ...field,
      label: translate(field.label),
      help: translate(field.help),
    })),
  };
}

const path = (connection: string) => ({ params: { path: { connection } } });

export const createConnection = (body: ConnectionIn) => unwrap(api.POST("/api/v1/connections", { body }));
export const changeConnection = (id: string, body: ConnectionPatch) =>
  unwrap(api.PATCH("/api/v1/connections/{connection}", { ...path(id), body }));
export const deleteConnection = (id: string) => unwrap(api.DELETE("/api/v1/connections/{connection}", path(id)));
export const testConnection = (id: string) => unwrap(api.POST("/api/v1/connections/{connection}/test", path(id)));
export const authorizeConnection = (id: string) =>
  unwrap(api.POST("/api/v1/connections/{connection}/authorize", path(id)));
export const pollAuthorization = (id: string, authorization: string) =>
  unwrap(api.POST("/api/v1/connections/{connection}/authorize/poll", { ...path(id), body: { authorization } }));
export const finishAuthorization = (body: { state: string; code: string; error: string; iss?: string }) =>
  unwrap(api.POST("/api/v1/connections/authorizations", { body }));
