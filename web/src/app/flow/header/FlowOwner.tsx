import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { changeOwner, flowKeys, flowQuery } from "@/api/queries/flows";
import { membersQuery, peopleQuery } from "@/api/queries/people";
import { useRights } from "@/api/rights";
import { Field, Select, toastError } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import { useAppTexts } from "../../texts";

type Flow = { id: string; space_id: string; owner_user_id?: string | null };

/** The owner of the open flow. The owner, and users who manage the space, can choose another member. */
export function FlowOwner() {
  const t = useAppTexts();
  const flow = useQuery(flowQuery(useDraft((state) => state.flowId))).data;
  const { me, may } = useRights();
  const people = useQuery(peopleQuery);
  if (!flow || people.isPending) return null;
  const owner = people.data?.find(({ id }) => id === flow.owner_user_id);
  const name = !flow.owner_user_id ? t("no_owner") : owner ? owner.name || owner.email || owner.id : t("owner_unknown");
  const shown = owner && owner.id === me?.user.id ? t("owner_you", { name }) : name;
  const owned = me !== undefined && me.user.id === flow.owner_user_id;
  if (may("flows.edit", flow.space_id) && (owned || may("spaces.manage", flow.space_id)))
    return <OwnerSelect flow={flow} shown={shown} />;
  return (
    <dl className="text-sm">
      <dt className="mb-1 font-medium">{t("owner")}</dt>
      <dd className="text-muted">{shown}</dd>
    </dl>
  );
}

const EDITORS: readonly string[] = ["editor", "publisher", "owner"];

/** The members of the space who can edit flows there; choosing one makes them the owner. */
function OwnerSelect({ flow, shown }: { flow: Flow; shown: string }) {
  const t = useAppTexts();
  const queryClient = useQueryClient();
  const members = useQuery(membersQuery(flow.space_id));
  const change = useMutation({
    mutationFn: (userId: string) => changeOwner(flow.id, userId),
    onError: (error) => toastError(t("owner_failed"), error),
    onSettled: () => queryClient.invalidateQueries({ queryKey: flowKeys.all }),
  });
  const others = (members.data ?? []).filter(
    ({ user_id, active, role }) => active && EDITORS.includes(role) && user_id !== flow.owner_user_id,
  );
  const options = others.map((one) => ({ value: one.user_id, label: one.name || one.email || one.user_id }));
  return (
    <Field label={t("owner")} help={t("owner_help")}>
      {(control) => (
        <Select
          {...control}
          className="max-w-80"
          value={flow.owner_user_id ?? undefined}
          placeholder={shown}
          options={flow.owner_user_id ? [{ value: flow.owner_user_id, label: shown }, ...options] : options}
          disabled={change.isPending}
          onChange={(userId) => userId !== flow.owner_user_id && change.mutate(userId)}
        />
      )}
    </Field>
  );
}
