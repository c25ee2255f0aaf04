import { infiniteQueryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";
import { flowKeys } from "./flows";

export type FlowItem = components["schemas"]["FlowItem"];
export type FlowSort = "created" | "updated" | "name";

export interface FlowFilter {
  search: string;
  space: string | undefined;
  sort: FlowSort;
}

const FLOWS_A_PAGE = 24;

/** Flows page by page, each with its newest run. */
export const flowListQuery = ({ search, space, sort }: FlowFilter) =>
  infiniteQueryOptions({
    queryKey: [...flowKeys.lists, { search, space, sort }] as const,
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        api.GET("/api/v1/flows", {
          params: {
            query: {
              limit: FLOWS_A_PAGE,
              sort,
              ...(search ? { search } : {}),
              ...(space ? { space_id: space } : {}),
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
