import createClient, { type Middleware } from "openapi-fetch";
import { ApiError, type Problem } from "./problem";
import type { paths } from "./schema";

let csrfToken: string | null = null;

/** The value that every change carries when a cookie signed the person in; `GET /me` gives it. */
export function setCsrfToken(token: string | null): void {
  csrfToken = token;
}

/** Headers of a request that does not go through `api`: an upload with progress, a stream. */
export function ownHeaders(): Record<string, string> {
  return csrfToken ? { "X-CSRF-Token": csrfToken } : {};
}

const guarded: Middleware = {
  onRequest({ request }) {
    if (csrfToken && request.method !== "GET") request.headers.set("X-CSRF-Token", csrfToken);
    return request;
  },
};

/** The typed client of the REST API: every path, parameter and answer from the OpenAPI document. */
export const api = createClient<paths>({
  baseUrl: globalThis.location?.origin ?? "",
  credentials: "same-origin",
  // Looked up with each request: tests put their own in its place.
  fetch: (request) => globalThis.fetch(request),
});
api.use(guarded);

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/**
 * The data of an answer, or an ApiError that says what happened and what to do.
 *
 * `const flow = await unwrap(api.GET("/api/v1/flows/{flow_id}", { params: { path: { flow_id } } }))`
 */
export async function unwrap<T>(call: Promise<Answer<T>>): Promise<T> {
  let answer: Answer<T>;
  try {
    answer = await call;
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === "AbortError") throw cause;
    throw ApiError.offline(cause);
  }
  if (answer.response.ok) return answer.data as T;
  throw new ApiError(answer.response.status, asProblem(answer.error, answer.response));
}

function asProblem(body: unknown, response: Response): Problem {
  if (typeof body === "object" && body !== null && "code" in body) return body as Problem;
  return { code: "http_error", title: response.statusText || "Error", status: response.status, detail: "" };
}
