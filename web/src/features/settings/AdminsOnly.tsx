import { useRights } from "@/api/rights";
import { Callout } from "@/components/ui";
import { useSettingsTexts } from "./texts";

/** For who may only look: that there is no button is no fault, and whom to ask. */
export function AdminsOnly() {
  const t = useSettingsTexts();
  const { me, may } = useRights();
  return me && !may("variables.manage") ? <Callout>{t("admins_only")}</Callout> : null;
}
