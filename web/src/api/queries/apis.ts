import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";
import { connectionKeys } from "./connections";

export type ApiOut = components["schemas"]["ApiOut"];
export type ApiDocument = components["schemas"]["ApiDocumentIn"];
export type Operation = components["schemas"]["OperationOut"];
export type OperationDetail = components["schemas"]["OperationDetailOut"];

/** Operations that are listed at once; a search finds the others. */
export const OPERATIONS_SHOWN = 50;
const keyOf = (...rest: readonly unknown[]) => [...connectionKeys.all, "api", ...rest] as const;
const path = (connection: string) => ({ path: { connection } });

/** The description of a connection's API. */
export const apiQuery = (connection: string) =>
  queryOptions({
    queryKey: keyOf(connection),
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/connections/{connection}/api", { params: path(connection), signal })),
    retry: false,
  });

/** Operations of a connection's API with all words of a text. */
export const operationsQuery = (connection: string, text: string) =>
  queryOptions({
    queryKey: keyOf(connection, "operations", text),
    queryFn: async ({ signal }) =>
      (
        await unwrap(
          api.GET("/api/v1/connections/{connection}/operations", {
            params: { ...path(connection), query: { q: text, limit: OPERATIONS_SHOWN } },
            signal,
          }),
        )
      ).items,
    enabled: connection !== "",
    retry: false,
  });

/** One operation with its schemas; null while the description has none of that name. */
export const operationQuery = (connection: string, name: string) =>
  queryOptions({
    queryKey: keyOf(connection, "operation", name),
    queryFn: ({ signal }) => {
      const params = { ...path(connection), query: { name, optional: true } };
      return unwrap(api.GET("/api/v1/connections/{connection}/operation", { params, signal }));
    },
    enabled: connection !== "" && name !== "",
    retry: false,
  });

export const suggestConnection = (body: ApiDocument) => unwrap(api.POST("/api/v1/connections/suggestions", { body }));
export const describeApi = (connection: string, body: ApiDocument) =>
  unwrap(api.PUT("/api/v1/connections/{connection}/api", { params: path(connection), body }));
export const removeApi = (connection: string) =>
  unwrap(api.DELETE("/api/v1/connections/{connection}/api", { params: path(connection) }));
export const acceptOperations = (connection: string, sha256: string) =>
  unwrap(
    api.POST("/api/v1/connections/{connection}/operations/accept", {
      params: path(connection),
      body: { operations: [], sha256 },
    }),
  );
