import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";

type Schemas = components["schemas"];
export type Slo = Schemas["SloOut"];
export type SloDetail = Schemas["SloDetail"];
export type NewSlo = Schemas["SloIn"];
export type SloChange = Schemas["SloPatch"];

export const sloKeys = {
  all: ["slos"] as const,
  list: (flowId: string | undefined) => ["slos", "list", flowId] as const,
  one: (id: string) => ["slos", "one", id] as const,
};

const SOON_MS = 30_000;
const of = (id: string) => ({ params: { path: { slo_id: id } } });

/** The objectives that the user can view, or those of one flow: the least error budget left first. */
export const slosQuery = (flowId: string | undefined) =>
  queryOptions({
    queryKey: sloKeys.list(flowId),
    queryFn: async ({ signal }) => {
      const query = flowId ? { flow_id: flowId } : {};
      return (await unwrap(api.GET("/api/v1/slos", { params: { query }, signal }))).items;
    },
    refetchInterval: SOON_MS,
  });

/** An objective with its error budget over time. */
export const sloQuery = (id: string) =>
  queryOptions({
    queryKey: sloKeys.one(id),
    queryFn: ({ signal }) => unwrap(api.GET("/api/v1/slos/{slo_id}", { ...of(id), signal })),
    refetchInterval: SOON_MS,
  });

export const addSlo = (flowId: string, body: NewSlo) =>
  unwrap(api.POST("/api/v1/flows/{flow_id}/slos", { params: { path: { flow_id: flowId } }, body }));
export const changeSlo = (id: string, body: SloChange) =>
  unwrap(api.PATCH("/api/v1/slos/{slo_id}", { ...of(id), body }));
export const removeSlo = (id: string) => unwrap(api.DELETE("/api/v1/slos/{slo_id}", of(id)));
