import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { DeliveryOut, RunOut } from "@/api/types";
import { api, unwrap } from "../client";
import type { components } from "../schema";

export interface RunFilter {
  flow_id?: string | undefined;
  status?: RunOut["status"] | undefined;
  session_id?: string | undefined;
  search?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
  deliveries?: DeliveryOut["status"] | undefined;
  parent_run_id?: string | undefined;
  parent_step_id?: string | undefined;
  owner_id?: string | undefined;
  tag?: string | undefined;
  trigger_id?: string | undefined;
  /** Also trigger, release, owner, tags and cost. */
  details?: boolean | undefined;
}

export const runKeys = {
  all: ["runs"] as const,
  lists: ["runs", "list"] as const,
  list: (filter: RunFilter) => ["runs", "list", filter] as const,
  one: (id: string) => ["runs", "one", id] as const,
  step: (id: string, step: string) => ["runs", "one", id, "step", step] as const,
  limits: (id: string) => ["runs", "one", id, "limits"] as const,
  cost: (id: string) => ["runs", "one", id, "cost"] as const,
  deliveries: (id: string) => ["runs", "one", id, "deliveries"] as const,
};

const UNDER_WAY = ["queued", "running", "waiting", "paused"];

export const over = (run: { status: string } | undefined) => run !== undefined && !UNDER_WAY.includes(run.status);

/** A run with its steps and its result. */
export const runQuery = (id: string) =>
  queryOptions({
    queryKey: runKeys.one(id),
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/flow-runs/{run_id}", { params: { path: { run_id: id } }, signal })),
    staleTime: (query) => (over(query.state.data as RunOut | undefined) ? 60_000 : 0),
  });

/** What limits a run; `moment` is where it stands, so that it is read again when it moves. */
export const runLimitsQuery = (id: string, moment = "") =>
  queryOptions({
    queryKey: [...runKeys.limits(id), moment] as const,
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/flow-runs/{run_id}/limits", { params: { path: { run_id: id } }, signal })),
    placeholderData: (before) => before,
  });

/** The handler of a run's failure, and the failed run that it handles; read again until a handler is settled. */
export const errorHandlerQuery = (id: string, isOver: boolean) =>
  queryOptions({
    queryKey: [...runKeys.one(id), "error-handler", isOver] as const,
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/flow-runs/{run_id}/error-handler", { params: { path: { run_id: id } }, signal })),
    placeholderData: (before) => before,
    refetchInterval: ({ state: { data, dataUpdateCount } }) =>
      isOver && dataUpdateCount < 5 && (!data?.handler || data.handler.status === "due") ? 1_500 : false,
  });

/** The step that started a run, and how the runs that its steps started stand; read again while some are active. */
export const relationsQuery = (id: string, active = false) =>
  queryOptions({
    queryKey: [...runKeys.one(id), "relations"] as const,
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/flow-runs/{run_id}/relations", { params: { path: { run_id: id } }, signal })),
    refetchInterval: active ? 2_000 : false,
  });

/** One step of a run with everything it left; `moment` is where it stands, so that it is asked again when it moves. */
export const stepQuery = (id: string, step: string, moment = "") =>
  queryOptions({
    queryKey: [...runKeys.step(id, step), moment] as const,
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/v1/flow-runs/{run_id}/steps/{step_id}", {
          params: { path: { run_id: id, step_id: step } },
          signal,
        }),
      ),
  });

const SETTLED = new Set(["delivered", "failed", "cancelled"]);

/** The deliveries of a run with their attempts, oldest first; read again while one is not settled or more can follow. */
export const deliveriesQuery = (id: string, growing = false) =>
  queryOptions({
    queryKey: runKeys.deliveries(id),
    queryFn: async ({ signal }) =>
      (await unwrap(api.GET("/api/v1/flow-runs/{run_id}/deliveries", { params: { path: { run_id: id } }, signal })))
        .items,
    refetchInterval: ({ state: { data } }) =>
      growing || data?.some(({ status }) => !SETTLED.has(status)) ? 2500 : false,
  });

/** What the steps of a run took, at the prices of their models. */
export const runCostQuery = (id: string) =>
  queryOptions({
    queryKey: runKeys.cost(id),
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/flow-runs/{run_id}/cost", { params: { path: { run_id: id } }, signal })),
  });

const page = (filter: RunFilter, limit: number, cursor: string | null, signal: AbortSignal) =>
  unwrap(
    api.GET("/api/v1/flow-runs", {
      params: {
        query: {
          limit,
          ...(cursor ? { cursor } : {}),
          ...Object.fromEntries(Object.entries(filter).filter(([, value]) => value)),
        },
      },
      signal,
    }),
  );

/** Runs, newest first, a page after the other. */
export const runsQuery = (filter: RunFilter) =>
  infiniteQueryOptions({
    queryKey: runKeys.list(filter),
    queryFn: ({ signal, pageParam }) => page(filter, 40, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    refetchInterval: (query) =>
      query.state.data?.pages.some((one) => one.items.some((run) => !over(run))) ? 2500 : false,
  });

/** The newest runs, so many. */
export const newestRunsQuery = (filter: RunFilter, limit: number) =>
  queryOptions({
    queryKey: [...runKeys.list(filter), "newest", limit] as const,
    queryFn: async ({ signal }) => (await page(filter, limit, null, signal)).items,
  });

export type RunsAction = components["schemas"]["RunsChangeIn"]["action"];
type RunChange = components["schemas"]["RunChange"];
/** Runs of one request; the server refuses more. */
const MOST_RUNS_CHANGED = 200;

/** Change runs; one result each. */
export async function changeRuns({ action, run_ids }: { action: RunsAction; run_ids: string[] }): Promise<RunChange[]> {
  const results: RunChange[] = [];
  for (let start = 0; start < run_ids.length; start += MOST_RUNS_CHANGED) {
    const body = { action, published: false, run_ids: run_ids.slice(start, start + MOST_RUNS_CHANGED) };
    results.push(...(await unwrap(api.POST("/api/v1/flow-runs/actions", { body }))).items);
  }
  return results;
}
