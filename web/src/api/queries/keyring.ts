import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";

export type RingKey = components["schemas"]["KeyringOut"];
export type KeyPurpose = components["schemas"]["Purpose"];

export const keyringKeys = { all: ["keyring"] as const };

const RUNNING_MS = 1_500;
const BLOCKED_MS = 15_000;

/** The installation's keys; asked again while a rotation runs, less often while a missing key blocks it. */
export const keyringQuery = queryOptions({
  queryKey: keyringKeys.all,
  queryFn: async ({ signal }) => (await unwrap(api.GET("/api/v1/keyring", { signal }))).items,
  refetchInterval: ({ state: { data } }) => {
    const running = data?.filter((key) => key.running) ?? [];
    if (running.length === 0) return false;
    return running.every((key) => Object.keys(key.unreadable).length > 0) ? BLOCKED_MS : RUNNING_MS;
  },
});

export const rotateKey = (purpose: KeyPurpose) =>
  unwrap(api.POST("/api/v1/keyring/{purpose}/rotate", { params: { path: { purpose } } }));

export const retireKey = (key: string) =>
  unwrap(api.POST("/api/v1/keyring/keys/{key}/retire", { params: { path: { key } } }));

export const revokeRingKey = ({ key, reason }: { key: string; reason: string }) =>
  unwrap(api.POST("/api/v1/keyring/keys/{key}/revoke", { params: { path: { key } }, body: { reason } }));
