import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";
import { CODEV_WAITING } from "./waitingCounts";

type Schemas = components["schemas"];
export type CodevSession = Schemas["SessionResponse"];
export type Interrupt = Schemas["InterruptPayload"];
export type CodevStart = Schemas["SessionStart"];
export type CodevAnswer = Schemas["Resume"]["response"];
export type CodevDomain = Schemas["DomainOut"];
export type TestCase = Schemas["TestCase"];

export const codevKeys = {
  all: ["codev"] as const,
  lists: ["codev", "list"] as const,
  waiting: CODEV_WAITING,
  one: (id: string) => ["codev", "one", id] as const,
  rollback: (id: string) => ["codev", "one", id, "rollback"] as const,
  summary: (id: string) => ["codev", "one", id, "summary"] as const,
  domains: ["codev", "domains"] as const,
};

const A_PAGE = 30;
const SOON_MS = 5000;
const SOME_TIME_MS = 60_000;

/** Development sessions, newest first, a page after the other; asked for again while one works. */
export const codevSessionsQuery = infiniteQueryOptions({
  queryKey: codevKeys.lists,
  queryFn: ({ signal, pageParam }) =>
    unwrap(
      api.GET("/api/v1/codev/sessions", {
        params: { query: { limit: A_PAGE, ...(pageParam ? { cursor: pageParam } : {}) } },
        signal,
      }),
    ),
  initialPageParam: null as string | null,
  getNextPageParam: (last) => last.next_cursor,
  refetchInterval: (query) =>
    query.state.data?.pages.some((page) => page.items.some((one) => one.status === "in_progress")) ? SOON_MS : false,
});

/** A session as it is now; one that is not over may be answered, stopped or deleted elsewhere: it is asked after now and then. */
export const codevSessionQuery = (id: string) =>
  queryOptions({
    queryKey: codevKeys.one(id),
    queryFn: ({ signal }) => readSession(id, signal),
    refetchInterval: (query) => (GOING.has(query.state.data?.status ?? "") ? SOME_TIME_MS / 4 : false),
  });

const GOING: ReadonlySet<string> = new Set<CodevSession["status"]>(["in_progress", "pending_interrupt"]);

const one = (id: string) => ({ params: { path: { session_id: id } } });
const AT_ONCE = { wait: false };

export const readSession = (id: string, signal?: AbortSignal) =>
  unwrap(api.GET("/api/v1/codev/sessions/{session_id}", { ...one(id), ...(signal ? { signal } : {}) }));

export const startSession = (body: CodevStart) =>
  unwrap(api.POST("/api/v1/codev/sessions", { params: { query: AT_ONCE }, body }));

export const answerSession = (id: string, interruptId: string, response: CodevAnswer) =>
  unwrap(
    api.POST("/api/v1/codev/sessions/{session_id}/resume", {
      params: { path: { session_id: id }, query: AT_ONCE },
      body: { interrupt_id: interruptId, response },
    }),
  );

export const stopSession = (id: string) => unwrap(api.POST("/api/v1/codev/sessions/{session_id}/stop", one(id)));

/** Continue a session that failed or stopped, with another model or a larger budget where one is given. */
export const retrySession = (id: string, { model, budget }: { model?: string; budget?: number }) =>
  unwrap(
    api.POST("/api/v1/codev/sessions/{session_id}/retry", {
      params: { path: { session_id: id }, query: AT_ONCE },
      body: { model: model || null, ...(budget ? { token_budget: budget } : {}) },
    }),
  );

export type Rollback = Schemas["RollbackPreview"];
export type RollbackFlow = Schemas["RollbackFlow"];
export type RollbackChoice = NonNullable<Schemas["RollbackAnswer"]["choice"]>;

/** What rolling back would change now: always asked anew, since the answer holds for what was shown. */
export const codevRollbackQuery = (id: string) =>
  queryOptions({
    queryKey: codevKeys.rollback(id),
    queryFn: ({ signal }) => unwrap(api.GET("/api/v1/codev/sessions/{session_id}/rollback", { ...one(id), signal })),
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });

export const rollBackSession = (id: string, token: string, choice?: RollbackChoice) =>
  unwrap(
    api.POST("/api/v1/codev/sessions/{session_id}/rollback", { ...one(id), body: { token, choice: choice ?? null } }),
  );

export const deleteSession = (id: string) => unwrap(api.DELETE("/api/v1/codev/sessions/{session_id}", one(id)));

/** Make a credential in the place that a session works on. */
export const giveCredential = (id: string, type: string, name: string, values: Record<string, string>) =>
  unwrap(api.POST("/api/v1/codev/sessions/{session_id}/credentials", { ...one(id), body: { type, name, values } }));

export const codevSummaryQuery = (id: string) =>
  queryOptions({
    queryKey: codevKeys.summary(id),
    queryFn: async ({ signal }) =>
      (await unwrap(api.GET("/api/v1/codev/sessions/{session_id}/summary", { ...one(id), signal }))).summary,
    staleTime: 0,
  });

/** The signed record of a session, byte for byte: written anew it would verify no more. */
export const readCodevEvidence = (id: string): Promise<Blob> =>
  unwrap(api.GET("/api/v1/codev/sessions/{session_id}/evidence", { ...one(id), parseAs: "blob" }));

/** The kinds of places that sessions may work on, with the servers of each, and the model that is taken. */
export const codevDomainsQuery = queryOptions({
  queryKey: codevKeys.domains,
  queryFn: ({ signal }) => unwrap(api.GET("/api/v1/codev/domains", { signal })),
  staleTime: SOME_TIME_MS,
  // Somebody may be about to connect a model, here or in another tab.
  refetchInterval: (query) => (query.state.data?.model === "" ? SOON_MS : false),
});

export type FlowiseServer = Schemas["FlowiseInstanceOut"];

export const flowiseKeys = { all: ["codev", "flowise"] as const };

/** Flowise servers that sessions may work on, the operator's first. */
export const flowiseQuery = queryOptions({
  queryKey: flowiseKeys.all,
  queryFn: async ({ signal }) => (await unwrap(api.GET("/api/v1/codev/instances", { signal }))).items,
});

export const addFlowise = (body: Schemas["FlowiseInstanceIn"]) => unwrap(api.POST("/api/v1/codev/instances", { body }));

export const removeFlowise = (instance: string) =>
  unwrap(api.DELETE("/api/v1/codev/instances/{instance}", { params: { path: { instance } } }));

/** Reach a server and count its components. */
export const testFlowise = (instance: string) =>
  unwrap(api.POST("/api/v1/codev/instances/{instance}/test", { params: { path: { instance } } }));
