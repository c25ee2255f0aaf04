import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";
import { connectionKeys } from "./connections";

export type DatabaseTable = components["schemas"]["DatabaseTableOut"];

/** Tables that are listed at once; a search finds the others. */
const TABLES_SHOWN = 50;
/** How long a schema is taken as it was read: each reading connects to the database. */
const FRESH_MS = 60_000;

/** Tables of a connection's database with a text in the name of the table or of a column. */
export const tablesQuery = (connection: string, text: string) =>
  queryOptions({
    queryKey: [...connectionKeys.all, "tables", connection, text] as const,
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/v1/connections/{connection}/tables", {
          params: { path: { connection }, query: { q: text, limit: TABLES_SHOWN } },
          signal,
        }),
      ),
    enabled: connection !== "",
    staleTime: FRESH_MS,
    retry: false,
  });
