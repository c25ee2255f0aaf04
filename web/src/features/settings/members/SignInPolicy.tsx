import { useQuery } from "@tanstack/react-query";
import { meKeys } from "@/api/queries/me";
import { secondFactorKeys, setSignInPolicy, signInPolicyQuery } from "@/api/queries/secondFactor";
import { Toggle } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { Part } from "../Section";
import { useSettingsTexts } from "../texts";

/** What the organisation requires of those who sign in with a password; for admins. */
export function SignInPolicy() {
  const t = useSettingsTexts();
  const policy = useQuery(signInPolicyQuery);
  const change = useChange({
    change: setSignInPolicy,
    touches: [secondFactorKeys.policy, secondFactorKeys.own, meKeys.all],
    failed: t("save_failed"),
  });
  if (!policy.data) return null;
  return (
    <Part title={t("signing_in")}>
      <Toggle
        label={t("require_second_factor")}
        help={t("require_second_factor_help")}
        checked={policy.data.second_factor_required}
        disabled={change.isPending}
        onChange={(required) => change.mutate(required)}
      />
    </Part>
  );
}
