import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components, operations } from "../schema";

type Schemas = components["schemas"];
export type Trigger = Schemas["TriggerOut"];
export type NewTrigger = Schemas["TriggerIn"];
export type TriggerChange = Schemas["TriggerPatch"];
export type Backfill = Schemas["BackfillOut"];
export type TriggerConfig = NewTrigger["config"];
export type Occurrence = Schemas["OccurrenceOut"];
export type Firing = Schemas["FiringOut"];
export type DryRun = Schemas["PollDryRunOut"];
export type PollItem = Schemas["PollItemOut"];
export type FormLink = Schemas["FormLinkOut"];
export type AgendaEntry = Schemas["AgendaEntry"];

/** Which triggers a list has. */
export type TriggerFilter = Pick<
  NonNullable<operations["list__api_v1_triggers_get"]["parameters"]["query"]>,
  "flow_id" | "kind" | "state" | "text"
>;

export const triggerKeys = {
  all: ["triggers"] as const,
  list: (filter: TriggerFilter) => ["triggers", "list", filter] as const,
  occurrences: (id: string) => ["triggers", "occurrences", id] as const,
  statistics: (id: string, days: number) => ["triggers", "statistics", id, days] as const,
  next: (id: string) => ["triggers", "next", id] as const,
  caught: (id: string) => ["triggers", "caught", id] as const,
  links: (id: string) => ["triggers", "links", id] as const,
  agenda: (days: number) => ["triggers", "agenda", days] as const,
  preview: (config: unknown) => ["triggers", "preview", config] as const,
};

const SOON_MS = 5000;
const MOST = 200;
const SHOWN = 20;
const of = (id: string) => ({ params: { path: { trigger_id: id } } });

/** The triggers of the spaces that the user can view; newest first. */
export const triggersQuery = (filter: TriggerFilter = {}) =>
  queryOptions({
    queryKey: triggerKeys.list(filter),
    queryFn: async ({ signal }) => {
      const query = { limit: MOST, ...filter };
      return (await unwrap(api.GET("/api/v1/triggers", { params: { query }, signal }))).items;
    },
    refetchInterval: SOON_MS,
  });

/** What a trigger started and skipped in the last days. */
export const triggerStatisticsQuery = (id: string, days: number) =>
  queryOptions({
    queryKey: triggerKeys.statistics(id, days),
    queryFn: ({ signal }) => {
      const params = { path: { trigger_id: id }, query: { days } };
      return unwrap(api.GET("/api/v1/triggers/{trigger_id}/statistics", { params, signal }));
    },
    refetchInterval: 6 * SOON_MS,
  });

/** The newest due times and events of a trigger. */
export const occurrencesQuery = (id: string) =>
  queryOptions({
    queryKey: triggerKeys.occurrences(id),
    queryFn: async ({ signal }) => {
      const params = { path: { trigger_id: id }, query: { limit: SHOWN } };
      return (await unwrap(api.GET("/api/v1/triggers/{trigger_id}/occurrences", { params, signal }))).items;
    },
    refetchInterval: SOON_MS,
  });

/** The next occurrences of a schedule. */
export const nextFiringsQuery = (id: string) =>
  queryOptions({
    queryKey: triggerKeys.next(id),
    queryFn: async ({ signal }) =>
      (await unwrap(api.GET("/api/v1/triggers/{trigger_id}/next", { ...of(id), signal }))).items,
  });

/** What a schedule that is not stored would fire. */
export const previewQuery = (config: TriggerConfig) =>
  queryOptions({
    queryKey: triggerKeys.preview(config),
    queryFn: ({ signal }) => unwrap(api.POST("/api/v1/triggers/preview", { body: { config, count: 10 }, signal })),
    retry: false,
  });

/** The holidays of a calendar file: the days of its all-day events. */
export const holidaysOf = async (config: TriggerConfig, calendar: string): Promise<string[]> =>
  (await unwrap(api.POST("/api/v1/triggers/preview", { body: { config, count: 1, calendar } }))).holidays ?? [];

/** The holidays of the calendar at the address of a schedule. */
export const holidaysAt = async (config: TriggerConfig): Promise<string[]> =>
  (await unwrap(api.POST("/api/v1/triggers/preview", { body: { config, count: 1, read_calendar: true } }))).holidays ??
  [];

/** What the schedules of all spaces will fire; a frequent one is one entry a day. */
export const agendaQuery = (days: number) =>
  queryOptions({
    queryKey: triggerKeys.agenda(days),
    queryFn: async ({ signal }) =>
      (
        await unwrap(
          api.GET("/api/v1/triggers/agenda", { params: { query: { days, limit: MOST, fold: true } }, signal }),
        )
      ).items,
  });

/** The call that test mode caught, asked for until it is there. */
export const caughtQuery = (id: string) =>
  queryOptions({
    queryKey: triggerKeys.caught(id),
    queryFn: ({ signal }) => unwrap(api.GET("/api/v1/triggers/{trigger_id}/catch", { ...of(id), signal })),
    refetchInterval: ({ state: { data } }) => (data?.waiting ? 1000 : false),
  });

/** The newest one-time links of a form. */
export const linksQuery = (id: string) =>
  queryOptions({
    queryKey: triggerKeys.links(id),
    queryFn: async ({ signal }) => {
      const params = { path: { trigger_id: id }, query: { limit: MOST } };
      return (await unwrap(api.GET("/api/v1/triggers/{trigger_id}/links", { params, signal }))).items;
    },
    refetchInterval: SOON_MS,
  });

export const addLinks = (id: string, body: Schemas["FormLinksIn"]) =>
  unwrap(api.POST("/api/v1/triggers/{trigger_id}/links", { ...of(id), body }));
export const revokeLink = (id: string, linkId: string) =>
  unwrap(
    api.DELETE("/api/v1/triggers/{trigger_id}/links/{link_id}", {
      params: { path: { trigger_id: id, link_id: linkId } },
    }),
  );
export const addTrigger = (flowId: string, body: NewTrigger) =>
  unwrap(api.POST("/api/v1/flows/{flow_id}/triggers", { params: { path: { flow_id: flowId } }, body }));
export const changeTrigger = (id: string, body: TriggerChange) =>
  unwrap(api.PATCH("/api/v1/triggers/{trigger_id}", { ...of(id), body }));
export const backfillTrigger = (id: string, body: Schemas["BackfillIn"]) =>
  unwrap(api.POST("/api/v1/triggers/{trigger_id}/backfill", { ...of(id), body }));
export const cancelBackfill = (id: string, backfillId: string) =>
  unwrap(
    api.DELETE("/api/v1/triggers/{trigger_id}/backfill/{backfill_id}", {
      params: { path: { trigger_id: id, backfill_id: backfillId } },
    }),
  );
export const pauseTrigger = (id: string) =>
  unwrap(api.POST("/api/v1/triggers/{trigger_id}/pause", { ...of(id), body: { reason: "" } }));
export const resumeTrigger = (id: string) => unwrap(api.POST("/api/v1/triggers/{trigger_id}/resume", of(id)));
export const removeTrigger = (id: string) => unwrap(api.DELETE("/api/v1/triggers/{trigger_id}", of(id)));
export const fireTrigger = (id: string) => unwrap(api.POST("/api/v1/triggers/{trigger_id}/fire", of(id)));
export const catchCall = (id: string) => unwrap(api.POST("/api/v1/triggers/{trigger_id}/catch", of(id)));
export const dryRunTrigger = (id: string) => unwrap(api.POST("/api/v1/triggers/{trigger_id}/dry-run", of(id)));
