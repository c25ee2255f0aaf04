import { useQuery } from "@tanstack/react-query";
import { flowQuery } from "@/api/queries/flows";
import { meQuery } from "@/api/queries/me";
import { peopleQuery } from "@/api/queries/people";
import { useDraft } from "@/lib/draft";
import { useAppTexts } from "../../texts";

/** The name of the user who owns the open flow. */
export function FlowOwner() {
  const t = useAppTexts();
  const flow = useQuery(flowQuery(useDraft((state) => state.flowId))).data;
  const me = useQuery(meQuery).data;
  const people = useQuery(peopleQuery);
  if (!flow || people.isPending) return null;
  const owner = people.data?.find(({ id }) => id === flow.owner_user_id);
  const name = !flow.owner_user_id ? t("no_owner") : owner ? owner.name || owner.email || owner.id : t("owner_unknown");
  return (
    <dl className="text-sm">
      <dt className="mb-1 font-medium">{t("owner")}</dt>
      <dd className="text-muted">{owner && owner.id === me?.user.id ? t("owner_you", { name }) : name}</dd>
    </dl>
  );
}
