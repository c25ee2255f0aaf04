import { ApiError } from "@/api/problem";

/** A user who is not signed in is being redirected to the sign-in page: nothing is drawn meanwhile, and nothing failed. */
export function unlessLeaving(error: unknown): Promise<never> {
  if (error instanceof ApiError && error.status === 401) return new Promise(() => undefined);
  throw error;
}
