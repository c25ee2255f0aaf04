import { queryOptions } from "@tanstack/react-query";
import { servedWords } from "@/lib/i18n/served";
import { api, unwrap } from "../client";
import type { components } from "../schema";

export type Pack = components["schemas"]["PackOut"];
export type PackPreview = components["schemas"]["PackPreviewOut"];
export type PackFlow = components["schemas"]["PackFlowOut"];
export type PackReach = components["schemas"]["PackReachOut"];
export type PackIn = components["schemas"]["PackIn"];

export const packKeys = { all: ["packs"] as const, signers: ["packs", "signers"] as const };

/** The installed packs, what they reach and which flows use them. */
export const packsQuery = queryOptions({
  queryKey: packKeys.all,
  queryFn: async ({ signal }) => {
    const [page, translate] = await Promise.all([unwrap(api.GET("/api/v1/packs", { signal })), servedWords()]);
    return page.items.map((pack) => ({
      ...pack,
      title: translate(pack.title),
      description: translate(pack.description),
    }));
  },
});

/** The signing keys that are trusted. */
export const signersQuery = queryOptions({
  queryKey: packKeys.signers,
  queryFn: async ({ signal }) => (await unwrap(api.GET("/api/v1/packs/signers", { signal }))).items,
});

/** What installing a file would do; the rehearsal when an earlier version is installed. */
export const previewPack = (content: string) => unwrap(api.POST("/api/v1/packs/preview", { body: { content } }));

/** Installs a pack, or replaces its earlier version. */
export const installPack = ({ name, body, upgrade }: { name: string; body: PackIn; upgrade: boolean }) =>
  upgrade
    ? unwrap(api.PUT("/api/v1/packs/{pack}", { params: { path: { pack: name } }, body }))
    : unwrap(api.POST("/api/v1/packs", { body }));

export const removePack = (pack: string) => unwrap(api.DELETE("/api/v1/packs/{pack}", { params: { path: { pack } } }));

export const distrustSigner = (key: string) =>
  unwrap(api.DELETE("/api/v1/packs/signers/{key}", { params: { path: { key } } }));

/** Replaces code of earlier pack versions in a draft by the installed code. */
export const updatePackFlow = (flowId: string) =>
  unwrap(api.POST("/api/v1/packs/flows/{flow_id}/update", { params: { path: { flow_id: flowId } } }));
