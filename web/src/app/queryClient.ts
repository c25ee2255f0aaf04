import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { ApiError } from "@/api/problem";

/** One cache for all answers of the server. What may pass is asked again twice; what was refused is not. */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache({ onError: toSignIn }),
    mutationCache: new MutationCache({ onError: toSignIn }),
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        retry: (count, error) => count < 2 && error instanceof ApiError && error.passing,
        refetchOnWindowFocus: true,
      },
    },
  });
}

const OPEN_PAGES = ["/sign-in", "/set-password"];

/** Whoever is not signed in (any longer) is asked to, and comes back here. */
function toSignIn(error: unknown): void {
  if (!(error instanceof ApiError) || error.status !== 401) return;
  const { pathname, search, hash } = window.location;
  if (OPEN_PAGES.includes(pathname)) return;
  window.location.assign(`/sign-in?next=${encodeURIComponent(pathname + search + hash)}`);
}
