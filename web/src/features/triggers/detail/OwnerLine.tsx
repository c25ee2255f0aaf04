import { useQuery } from "@tanstack/react-query";
import { peopleQuery } from "@/api/queries/people";
import { changeTrigger, type Trigger, triggerKeys } from "@/api/queries/triggers";
import { useRights } from "@/api/rights";
import { Select } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { useTriggerTexts } from "../texts";

/** Whose rights the runs have. Who manages the trigger can become the owner, an administrator names any active user. */
export function OwnerLine({ trigger, manages }: { trigger: Trigger; manages: boolean }) {
  const t = useTriggerTexts();
  const { me, may } = useRights();
  const people = useQuery({ ...peopleQuery, enabled: manages }).data ?? [];
  const change = useChange({
    change: (owner_user_id: string) => changeTrigger(trigger.id, { owner_user_id }),
    touches: [triggerKeys.all],
    failed: t("failed"),
  });
  const mine = (id: string) => id === me?.user.id;
  const options = people
    .filter(({ id, active }) => id === trigger.owner_user_id || mine(id) || (active && may("people.manage")))
    .map((one) => ({ value: one.id, label: one.name || one.email || one.id }));
  const shown = trigger.owner_name ? t("owner", { name: trigger.owner_name }) : t("owner_gone");
  if (!manages || options.every(({ value }) => value === trigger.owner_user_id))
    return <p className="text-sm text-muted">{shown}</p>;
  return (
    <div className="flex flex-wrap items-center gap-2 text-sm text-muted">
      <span>{trigger.owner_name ? t("owner_is") : t("owner_gone")}</span>
      <Select
        aria-label={t("owner_is")}
        className="max-w-80"
        value={trigger.owner_user_id ?? undefined}
        placeholder={t("owner_choose")}
        options={options}
        disabled={change.isPending}
        onChange={(id) => id !== trigger.owner_user_id && change.mutate(id)}
      />
    </div>
  );
}
