import type { Quota } from "@/api/queries/quotas";
import { bytes, number } from "@/lib/i18n/format";
import type { SettingsText } from "../texts";

export const QUOTA_NAMES: Record<Quota["quota"], SettingsText> = {
  runs: "quota_runs",
  runs_per_hour: "quota_runs_per_hour",
  tokens_per_day: "quota_tokens_per_day",
  tokens_per_month: "quota_tokens_per_month",
  storage_bytes: "quota_storage_bytes",
};

/** An amount of a limit as people read it. */
export const amountOf = (quota: Pick<Quota, "quota">, amount: number) =>
  quota.quota === "storage_bytes" ? bytes(amount) : number(amount);

/** How many of the server's units one unit of the dialog is: stored files are entered in MB. */
export const unitOf = (quota: Pick<Quota, "quota">) => (quota.quota === "storage_bytes" ? 1024 ** 2 : 1);

export interface QuotaGroup {
  id: string;
  quotas: Quota[];
}

/** The limits of each subject together, in the order in which the server lists them. */
export function groupsOf(quotas: readonly Quota[]): QuotaGroup[] {
  const groups = new Map<string, QuotaGroup>();
  for (const quota of quotas) {
    const id = `${quota.scope}/${quota.space_id ?? ""}`;
    const group = groups.get(id) ?? { id, quotas: [] };
    group.quotas.push(quota);
    groups.set(id, group);
  }
  return [...groups.values()];
}
