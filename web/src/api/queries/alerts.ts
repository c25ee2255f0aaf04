import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";
import { allAttention } from "./attention";

type Schemas = components["schemas"];
export type AlertRule = Schemas["AlertRuleOut"];
export type NewAlertRule = Schemas["AlertRuleIn"];
export type AlertRuleChange = Schemas["AlertRulePatch"];
export type Alert = Schemas["AlertOut"];
export type AlertNotice = Schemas["AlertNoticeOut"];
export type AlertTest = Schemas["AlertTestOut"];

export const alertKeys = {
  all: ["alerts"] as const,
  rules: (flowId: string | undefined) => ["alerts", "rules", flowId] as const,
  history: (ruleId: string) => ["alerts", "history", ruleId] as const,
  notices: (ruleId: string) => ["alerts", "notices", ruleId] as const,
};
/** What a change of a rule or an alert touches. */
export const ALERT_CHANGES = [alertKeys.all, allAttention.queryKey];

const SOON_MS = 15_000;
const PAGE = 50;
const SHOWN = 20;
const of = (id: string) => ({ params: { path: { rule_id: id } } });

/** The rules of the spaces that the user can view, or of one flow; newest first, a page after the other. */
export const alertRulesQuery = (flowId: string | undefined) =>
  infiniteQueryOptions({
    queryKey: alertKeys.rules(flowId),
    queryFn: ({ signal, pageParam }) => {
      const query = {
        limit: PAGE,
        ...(flowId ? { flow_id: flowId } : {}),
        ...(pageParam ? { cursor: pageParam } : {}),
      };
      return unwrap(api.GET("/api/v1/alert-rules", { params: { query }, signal }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    select: ({ pages }) => pages.flatMap(({ items }) => items),
    refetchInterval: SOON_MS,
  });

/** The newest alerts of a rule. */
export const alertHistoryQuery = (ruleId: string) =>
  queryOptions({
    queryKey: alertKeys.history(ruleId),
    queryFn: async ({ signal }) => {
      const query = { rule_id: ruleId, limit: SHOWN };
      return (await unwrap(api.GET("/api/v1/alerts", { params: { query }, signal }))).items;
    },
    refetchInterval: SOON_MS,
  });

/** The newest notices of a rule. */
export const alertNoticesQuery = (ruleId: string) =>
  queryOptions({
    queryKey: alertKeys.notices(ruleId),
    queryFn: async ({ signal }) => {
      const query = { rule_id: ruleId, limit: SHOWN };
      return (await unwrap(api.GET("/api/v1/alert-notices", { params: { query }, signal }))).items;
    },
    refetchInterval: SOON_MS,
  });

export const addAlertRule = (body: NewAlertRule) => unwrap(api.POST("/api/v1/alert-rules", { body }));
export const changeAlertRule = (id: string, body: AlertRuleChange) =>
  unwrap(api.PATCH("/api/v1/alert-rules/{rule_id}", { ...of(id), body }));
export const removeAlertRule = (id: string) => unwrap(api.DELETE("/api/v1/alert-rules/{rule_id}", of(id)));
export const testAlertRule = (id: string) => unwrap(api.POST("/api/v1/alert-rules/{rule_id}/test", of(id)));
export const acknowledgeAlert = (id: string) =>
  unwrap(api.POST("/api/v1/alerts/{alert_id}/acknowledge", { params: { path: { alert_id: id } } }));
export const redeliverAlertNotice = (id: string) =>
  unwrap(api.POST("/api/v1/alert-notices/{notice_id}/redeliver", { params: { path: { notice_id: id } } }));
