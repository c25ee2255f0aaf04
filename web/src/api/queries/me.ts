import { queryOptions } from "@tanstack/react-query";
import { api, setCsrfToken, unwrap } from "../client";

export const meKeys = { all: ["me"] as const };

/** Who is asking, with their rights and the token of changes. */
export const meQuery = queryOptions({
  queryKey: meKeys.all,
  queryFn: async ({ signal }) => {
    const me = await unwrap(api.GET("/api/v1/me", { signal }));
    setCsrfToken(me.csrf_token ?? null);
    return me;
  },
  staleTime: 5 * 60_000,
});
