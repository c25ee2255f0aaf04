import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Quota, quotasQuery } from "@/api/queries/quotas";
import { Button, Callout, Problem, Progress, Row, Rows, Skeleton } from "@/components/ui";
import { dateTime } from "@/lib/i18n/format";
import { Part, Section } from "../Section";
import { useSettingsTexts } from "../texts";
import { CircuitsPart } from "./CircuitsPart";
import { amountOf, groupsOf, QUOTA_NAMES, type QuotaGroup } from "./groups";
import { LimitDialog } from "./LimitDialog";

/** What the organisation, its spaces and visitors may use, and what they have used. */
export function LimitsSection() {
  const t = useSettingsTexts();
  const quotas = useQuery(quotasQuery);
  const [editing, setEditing] = useState<Quota | null>(null);
  return (
    <Section title={t("limits")} about={t("limits_about")}>
      {quotas.isError && <Problem error={quotas.error} retry={() => void quotas.refetch()} />}
      {quotas.isPending && <Skeleton className="h-56" />}
      {quotas.data && groupsOf(quotas.data).map((group) => <Group key={group.id} group={group} onEdit={setEditing} />)}
      {quotas.data && <Callout>{t("limits_by_operator")}</Callout>}
      <CircuitsPart />
      {editing && <LimitDialog quota={editing} who={groupName(t, editing)} onClose={() => setEditing(null)} />}
    </Section>
  );
}

const groupName = (t: ReturnType<typeof useSettingsTexts>, quota: Quota) => {
  if (quota.space_name !== null) return quota.space_name;
  if (quota.scope === "tenant") return t("limits_tenant");
  return t(quota.scope === "space" ? "limits_every_space" : "limits_visitor");
};

const ABOUT = {
  tenant: "limits_tenant_more",
  space: "limits_every_space_more",
  visitor: "limits_visitor_more",
} as const;

function Group({ group, onEdit }: { group: QuotaGroup; onEdit: (quota: Quota) => void }) {
  const t = useSettingsTexts();
  const [first] = group.quotas;
  if (!first) return null;
  const name = groupName(t, first);
  return (
    <Part title={name} about={first.space_id === null && t(ABOUT[first.scope])}>
      <Rows label={name}>
        {group.quotas.map((quota) => (
          <LimitRow key={quota.quota} quota={quota} who={name} onEdit={() => onEdit(quota)} />
        ))}
      </Rows>
    </Part>
  );
}

function LimitRow({ quota, who, onEdit }: { quota: Quota; who: string; onEdit: () => void }) {
  const t = useSettingsTexts();
  const name = t(QUOTA_NAMES[quota.quota]);
  const { used, most } = quota;
  const full = used !== null && most !== null && used >= most;
  return (
    <Row
      title={name}
      detail={<Amount quota={quota} full={full} />}
      aside={
        <Button size="sm" aria-label={t("change_limit", { what: name, who })} onClick={onEdit}>
          {t("change")}
        </Button>
      }
    >
      {used !== null && most !== null && (
        <div className="mt-2">
          <Progress value={most === 0 ? 1 : Math.min(1, used / most)} label={`${who}: ${name}`} />
        </div>
      )}
    </Row>
  );
}

function Amount({ quota, full }: { quota: Quota; full: boolean }) {
  const t = useSettingsTexts();
  const { used, most, resets_at } = quota;
  const limit = most === null ? t("no_limit") : amountOf(quota, most);
  if (used === null) return <>{most === null ? limit : t("limit_at_most", { most: limit })}</>;
  return (
    <>
      <span className={full ? "font-medium text-bad" : undefined}>
        {most === null
          ? t("limit_used", { used: amountOf(quota, used) })
          : t("limit_used_of", { used: amountOf(quota, used), most: limit })}
      </span>
      {most === null && <> · {limit}</>}
      {full && resets_at && <> · {t("limit_resets", { when: dateTime(resets_at) })}</>}
    </>
  );
}
