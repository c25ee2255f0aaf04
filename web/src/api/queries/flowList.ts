import { infiniteQueryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";
import { flowKeys } from "./flows";

export type FlowItem = components["schemas"]["FlowItem"];
export type FlowShow = "favourites" | "trash";
export type FlowSort = "created" | "updated" | "name";

export interface FlowFilter {
  search: string;
  space: string | undefined;
  sort: FlowSort;
  folder?: string | undefined;
  tag?: string | undefined;
  /** The favourites of the user, or the trash, instead of all. */
  show?: FlowShow | undefined;
}

const FLOWS_A_PAGE = 24;

/** Flows page by page, each with its newest run. */
export const flowListQuery = ({ search, space, sort, folder, tag, show }: FlowFilter) =>
  infiniteQueryOptions({
    queryKey: [...flowKeys.pages, { search, space, sort, folder, tag, show }] as const,
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        api.GET("/api/v1/flows", {
          params: {
            query: {
              limit: FLOWS_A_PAGE,
              sort,
              ...(search ? { search } : {}),
              ...(space ? { space_id: space } : {}),
              ...(folder ? { folder } : {}),
              ...(tag ? { tag } : {}),
              ...(show === "favourites" ? { favourites: true } : {}),
              ...(show === "trash" ? { trashed: true } : {}),
              ...(pageParam ? { cursor: pageParam } : {}),
            },
          },
          signal,
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    placeholderData: (before) => before,
  });
