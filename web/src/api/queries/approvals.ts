import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";
import { APPROVAL_COUNT } from "./waitingCounts";

type Schemas = components["schemas"];
export type Approval = Schemas["ApprovalOut"];
export type ApprovalSummary = Schemas["ApprovalSummary"];
export type ApprovalDecision = Schemas["DecisionOut"];
export type DecisionResult = Schemas["DecisionResult"];
type DecisionBody = Schemas["DecisionIn"];
type DecisionItem = Schemas["DecisionItem"];

/** Which approvals the inbox lists. */
export const INBOX_FILTERS = ["mine", "waiting", "decided"] as const;
export type InboxFilter = (typeof INBOX_FILTERS)[number];

export const approvalKeys = {
  all: ["approvals"] as const,
  count: APPROVAL_COUNT,
  list: (filter: InboxFilter) => ["approvals", "list", filter] as const,
  one: (id: string) => ["approvals", "one", id] as const,
  ofRun: (runId: string) => ["approvals", "run", runId] as const,
};

const A_PAGE = 30;
const SOON_MS = 5000;
const QUERIES = { mine: { mine: true }, waiting: { status: "pending" }, decided: { status: "decided" } } as const;

/** Approvals of one filter, a page after the other: the most urgent first, decided ones by time. */
export const approvalsQuery = (filter: InboxFilter) =>
  infiniteQueryOptions({
    queryKey: approvalKeys.list(filter),
    queryFn: ({ signal, pageParam }) =>
      unwrap(
        api.GET("/api/v1/approvals", {
          params: { query: { ...QUERIES[filter], limit: A_PAGE, ...(pageParam ? { cursor: pageParam } : {}) } },
          signal,
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    refetchInterval: filter === "decided" ? false : SOON_MS,
  });

/** One approval with what it shows; read again while it is pending, since others may decide. */
export const approvalQuery = (id: string) =>
  queryOptions({
    queryKey: approvalKeys.one(id),
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/approvals/{approval_id}", { params: { path: { approval_id: id } }, signal })),
    refetchInterval: ({ state: { data } }) => (data?.status === "pending" ? SOON_MS : false),
  });

/** The approvals that a run waits for now. */
export const approvalsOfRunQuery = (runId: string) =>
  queryOptions({
    queryKey: approvalKeys.ofRun(runId),
    queryFn: async ({ signal }) =>
      (
        await unwrap(
          api.GET("/api/v1/approvals", {
            params: { query: { run_id: runId, status: "pending", limit: A_PAGE } },
            signal,
          }),
        )
      ).items,
    refetchInterval: SOON_MS,
  });

export const decideApproval = (id: string, body: DecisionBody) =>
  unwrap(api.POST("/api/v1/approvals/{approval_id}/decision", { params: { path: { approval_id: id } }, body }));

/** Decide several; each has its own result. */
export const decideApprovals = async (decisions: DecisionItem[]) =>
  (await unwrap(api.POST("/api/v1/approvals/decisions", { body: { decisions } }))).items;
