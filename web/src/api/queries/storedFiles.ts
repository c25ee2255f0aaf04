import { infiniteQueryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";

/** A folder of a storage, in pages; only names that contain the text. */
export const storedFilesQuery = (connection: string, folder: string, search: string) =>
  infiniteQueryOptions({
    queryKey: ["stored-files", connection, folder, search] as const,
    queryFn: ({ signal, pageParam }) =>
      unwrap(
        api.GET("/api/v1/connections/{connection}/files", {
          params: { path: { connection }, query: { folder, search, cursor: pageParam } },
          signal,
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor,
    retry: false,
    staleTime: 0,
  });
