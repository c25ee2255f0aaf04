import { useRights } from "@/api/rights";
import { Section } from "../Section";
import { useSettingsTexts } from "../texts";
import { People } from "./People";
import { ServiceAccounts } from "./ServiceAccounts";
import { SignInPolicy } from "./SignInPolicy";
import { SpaceMembers } from "./SpaceMembers";

/** Who is in the organisation, and what they may do in each space. */
export function MembersSection() {
  const t = useSettingsTexts();
  const { me, may } = useRights();
  return (
    <Section title={t("members")} about={t("members_about", { organisation: me?.tenant.name ?? "" })}>
      <SpaceMembers />
      {may("people.view") && <People />}
      {may("people.manage") && <ServiceAccounts />}
      {may("people.manage") && me?.signed_in_by !== "auto_login" && <SignInPolicy />}
    </Section>
  );
}
