import type { ApiKey } from "@/api/queries/apiKeys";

/** Whether a key works now. */
export function keyState(key: Pick<ApiKey, "revoked_at" | "expires_at">, now = Date.now()) {
  if (key.revoked_at) return "revoked";
  return key.expires_at && new Date(key.expires_at).getTime() <= now ? "expired" : "works";
}

export type Lifetime = "7" | "30" | "90" | "365" | "never";

/** When a key made now ends. */
export function endOf(lifetime: Lifetime, now = Date.now()): string | null {
  return lifetime === "never" ? null : new Date(now + Number(lifetime) * 86_400_000).toISOString();
}

/** Networks as they are typed, separated by commas or spaces; null for everywhere. */
export function networksOf(typed: string): string[] | null {
  const networks = typed.split(/[\s,;]+/).filter(Boolean);
  return networks.length > 0 ? networks : null;
}
