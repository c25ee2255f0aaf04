import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import { ApiError } from "../problem";
import type { components } from "../schema";
import { flowKeys } from "./flows";

export type TestCase = components["schemas"]["TestCase"];
export type TestSet = components["schemas"]["TestSetOut"];
export type Standing = components["schemas"]["Standing"];
export type TestResultSummary = components["schemas"]["TestResultSummary"];
export type TestResult = components["schemas"]["TestResultOut"];
export type Trial = components["schemas"]["TrialOut"];

export const testKeys = {
  all: (id: string) => [...flowKeys.one(id), "tests"] as const,
  sets: (id: string) => [...testKeys.all(id), "set"] as const,
  set: (id: string, revision: number) => [...testKeys.sets(id), revision] as const,
  results: (id: string) => [...testKeys.all(id), "results"] as const,
  result: (id: string, result: string) => [...testKeys.all(id), "result", result] as const,
};

/** A flow's tests, and how the draft of this revision stands with them. */
export const testsQuery = (flowId: string, revision: number) =>
  queryOptions({
    queryKey: testKeys.set(flowId, revision),
    queryFn: ({ signal }) => readTests(flowId, signal),
  });

export const readTests = (flowId: string, signal?: AbortSignal) =>
  unwrap(
    api.GET("/api/v1/flows/{flow_id}/tests", {
      params: { path: { flow_id: flowId } },
      ...(signal ? { signal } : {}),
    }),
  );

/** The newest results, the newest first. */
export const testResultsQuery = (flowId: string) =>
  queryOptions({
    queryKey: testKeys.results(flowId),
    queryFn: async ({ signal }) =>
      (
        await unwrap(
          api.GET("/api/v1/flows/{flow_id}/tests/results", {
            params: { path: { flow_id: flowId }, query: { limit: 20 } },
            signal,
          }),
        )
      ).items,
  });

/** A result with its trials; asked again and again while it is being made. */
export const testResultQuery = (flowId: string, resultId: string) =>
  queryOptions({
    queryKey: testKeys.result(flowId, resultId),
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/v1/flows/{flow_id}/tests/results/{result_id}", {
          params: { path: { flow_id: flowId, result_id: resultId } },
          signal,
        }),
      ),
    refetchInterval: (query) => (query.state.data?.status === "running" ? 800 : false),
  });

/** Replaces the tests, as long as they are those of the revision. */
export const saveTests = (flowId: string, revision: string, cases: TestCase[]) =>
  unwrap(
    api.PUT("/api/v1/flows/{flow_id}/tests", { params: { path: { flow_id: flowId } }, body: { revision, cases } }),
  );

/** Whether somebody else changed the tests between reading and saving them. */
export const isStaleSet = (error: unknown): boolean => error instanceof ApiError && error.code === "stale_tests";

export const runTests = (flowId: string, trials: number) =>
  unwrap(
    api.POST("/api/v1/flows/{flow_id}/tests/run", {
      params: { path: { flow_id: flowId } },
      body: { trials, wait: false },
    }),
  );

/** Makes tests of the questions of a knowledge base. */
export const addQuestionTests = (flowId: string, body: components["schemas"]["QuestionTestsIn"]) =>
  unwrap(api.POST("/api/v1/flows/{flow_id}/tests/questions", { params: { path: { flow_id: flowId } }, body }));

export const cancelTests = (flowId: string, resultId: string) =>
  unwrap(
    api.POST("/api/v1/flows/{flow_id}/tests/results/{result_id}/cancel", {
      params: { path: { flow_id: flowId, result_id: resultId } },
    }),
  );
