import { useRights } from "@/api/rights";
import { Callout } from "@/components/ui";
import { useSettingsTexts } from "./texts";

/** For users with read access only: why there is no button, and whom to ask. */
export function AdminsOnly() {
  const t = useSettingsTexts();
  const { me, may } = useRights();
  return me && !may("variables.manage") ? <Callout>{t("admins_only")}</Callout> : null;
}
