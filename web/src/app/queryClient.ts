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

const OPEN_PAGES = ["/sign-in", "/set-password", "/review"];

/** Whoever is not signed in (any longer), or lacks a required second factor, is asked to, and comes back here. */
function toSignIn(error: unknown): void {
  const missing = error instanceof ApiError && error.code === "second_factor_missing";
  if (!(error instanceof ApiError) || (error.status !== 401 && !missing)) return;
  const { pathname, search, hash } = window.location;
  if (OPEN_PAGES.includes(pathname)) return;
  const step = missing ? "step=second-factor&" : "";
  window.location.assign(`/sign-in?${step}next=${encodeURIComponent(pathname + search + hash)}`);
}
