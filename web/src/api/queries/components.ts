import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";

export const componentKeys = { all: ["components"] as const };

/** Every component's template: what it takes, what it gives, how it is shown. */
export const componentsQuery = queryOptions({
  queryKey: componentKeys.all,
  queryFn: ({ signal }) => unwrap(api.GET("/api/v1/components", { signal })),
  staleTime: 10 * 60_000,
});
