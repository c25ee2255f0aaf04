import { useQuery } from "@tanstack/react-query";
import { peopleQuery } from "@/api/queries/people";
import { useRights } from "@/api/rights";
import { anyOf } from "@/lib/i18n/format";
import { useModelSetupTexts } from "./texts";

const MOST = 3;

/** For users who may not connect models: who may, by name where their names are known. */
export function AskAnAdmin() {
  const t = useModelSetupTexts();
  const { may } = useRights();
  const people = useQuery({ ...peopleQuery, enabled: may("people.view"), retry: false });
  const admins = (people.data ?? [])
    .filter(({ role, active, can_sign_in }) => active && can_sign_in && role === "admin")
    .slice(0, MOST);
  if (admins.length === 0) return <>{t("no_rights")}</>;
  return <>{t("no_rights_who", { names: anyOf(admins.map(({ name, email }) => name || (email ?? ""))) })}</>;
}
