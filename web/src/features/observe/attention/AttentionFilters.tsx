import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { type AttentionFilter, type AttentionKind, attentionQuery } from "@/api/queries/attention";
import { useRights } from "@/api/rights";
import { SavedViews } from "@/components/saved-views";
import { Select } from "@/components/ui";
import { useObserveTexts } from "../texts";
import { AGES, type Age, ageOf, filterOf, KINDS, settingsOf } from "./view";

interface AttentionFiltersProps {
  filter: AttentionFilter;
  space: string | null;
  onChange: (filter: AttentionFilter) => void;
}

const ANY = "any";
const NOBODY = "nobody";
const FIELD = "min-w-36 flex-1 sm:w-40 sm:flex-none";

/** Kind, flow, owner, assignee and age of what is listed; saved views. */
export function AttentionFilters({ filter, space, onChange }: AttentionFiltersProps) {
  const t = useObserveTexts();
  const { me } = useRights();
  const all = useQuery(attentionQuery(space ? { space_id: space } : {})).data?.items;
  const flows = useMemo(() => {
    const names = new Map<string, string>();
    for (const { flow_id, name, kind } of all ?? []) {
      if (flow_id && (kind.endsWith("runs") || kind === "failed_deliveries")) names.set(flow_id, name ?? "");
    }
    return [...names].map(([value, label]) => ({ value, label }));
  }, [all]);
  const own = me?.user.id ?? "";
  const change = (next: AttentionFilter) => onChange({ ...filter, ...next });
  const chosen = (value: string) => (value === ANY ? undefined : value);
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Select
        aria-label={t("filter_kind")}
        className={FIELD}
        value={filter.kind?.length === 1 ? (filter.kind[0] as string) : ANY}
        options={[
          { value: ANY, label: t("every_kind") },
          ...KINDS.map((kind) => ({ value: kind as string, label: t(`kind_${kind}`) })),
        ]}
        onChange={(kind) => change({ kind: kind === ANY ? undefined : [kind as AttentionKind] })}
      />
      {(flows.length > 1 || filter.flow_id) && (
        <Select
          aria-label={t("flow")}
          className={FIELD}
          value={filter.flow_id ?? ANY}
          options={[{ value: ANY, label: t("every_flow") }, ...flows]}
          onChange={(flow) => change({ flow_id: chosen(flow) })}
        />
      )}
      <Select
        aria-label={t("filter_owner")}
        className={FIELD}
        value={filter.owner_id ? own : ANY}
        options={[
          { value: ANY, label: t("every_owner") },
          { value: own, label: t("owned_by_me") },
        ]}
        onChange={(owner) => change({ owner_id: chosen(owner) })}
      />
      <Select
        aria-label={t("filter_assigned")}
        className={FIELD}
        value={filter.assigned_to ?? ANY}
        options={[
          { value: ANY, label: t("every_assignee") },
          { value: own, label: t("assigned_to_me") },
          { value: NOBODY, label: t("assigned_to_nobody") },
        ]}
        onChange={(assigned) => change({ assigned_to: chosen(assigned) })}
      />
      <Select<Age>
        aria-label={t("filter_age")}
        className={FIELD}
        value={ageOf(filter)}
        options={(Object.keys(AGES) as Age[]).map((age) => ({ value: age, label: t(`age_${age}`) }))}
        onChange={(age) => change({ within_hours: undefined, older_hours: undefined, ...AGES[age] })}
      />
      <SavedViews
        place="attention"
        current={settingsOf(filter)}
        onChoose={(view) => onChange(filterOf(view.settings))}
      />
    </div>
  );
}
