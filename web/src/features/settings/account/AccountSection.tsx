import { LogOut } from "lucide-react";
import { signOut } from "@/api/queries/signIn";
import { useRights } from "@/api/rights";
import { Button, Callout } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { forgetStored, UNSENT } from "@/lib/storage";
import { Part, Section } from "../Section";
import { useSettingsTexts } from "../texts";
import { LanguageChoice } from "./LanguageChoice";
import { Passkeys } from "./Passkeys";
import { PasswordForm } from "./PasswordForm";
import { SecondFactor } from "./SecondFactor";
import { Sessions } from "./Sessions";

/** Who one is here, the language, the password, the second factor, and where one is signed in. */
export function AccountSection() {
  const t = useSettingsTexts();
  const { me } = useRights();
  const leave = useChange({
    change: signOut,
    touches: [],
    failed: t("sign_out_failed"),
  });
  const alone = me?.signed_in_by === "auto_login";
  return (
    <Section
      title={t("account")}
      about={me && `${me.user.email ?? me.user.name} · ${me.tenant.name}`}
      action={
        me &&
        !alone && (
          <Button
            icon={<LogOut />}
            busy={leave.isPending}
            onClick={() =>
              leave.mutate(undefined, {
                onSuccess: () => {
                  forgetStored(UNSENT);
                  // Where the person came through a provider, that is asked to end its session too.
                  window.location.assign(
                    me.signed_in_by === "single_sign_on" ? "/api/v1/sign-in/oidc/sign-out" : "/sign-in",
                  );
                },
              })
            }
          >
            {t("sign_out")}
          </Button>
        )
      }
    >
      {alone && <Callout title={t("auto_login")}>{t("auto_login_more")}</Callout>}
      <LanguageChoice />
      {me && !alone && (
        <>
          <Part title={t("password")}>
            <PasswordForm />
          </Part>
          <Passkeys />
          <SecondFactor />
          <Sessions />
        </>
      )}
    </Section>
  );
}
