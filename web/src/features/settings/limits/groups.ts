import type { Quota } from "@/api/queries/quotas";
import type { SettingsText } from "../texts";

export const QUOTA_NAMES: Record<Quota["quota"], SettingsText> = {
  runs: "quota_runs",
  runs_per_hour: "quota_runs_per_hour",
  tokens_per_day: "quota_tokens_per_day",
  tokens_per_month: "quota_tokens_per_month",
};

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
