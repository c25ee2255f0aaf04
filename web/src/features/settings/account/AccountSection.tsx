import { useQuery } from "@tanstack/react-query";
import { LogOut, Monitor } from "lucide-react";
import { endSession, sessionKeys, sessionsQuery } from "@/api/queries/sessions";
import { signOut } from "@/api/queries/signIn";
import { useRights } from "@/api/rights";
import { Button, Callout, Chip } from "@/components/ui";
import { ago } from "@/lib/i18n/format";
import { forgetStored, UNSENT } from "@/lib/storage";
import { Listing } from "../Listing";
import { Part, Row, Section } from "../Section";
import { useSettingsTexts } from "../texts";
import { useChange } from "../useChange";
import { browserOf } from "./browserOf";
import { LanguageChoice } from "./LanguageChoice";
import { PasswordForm } from "./PasswordForm";

/** Who one is here, the language, the password, and where one is signed in. */
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
                  window.location.assign("/sign-in");
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
          <Sessions />
        </>
      )}
    </Section>
  );
}

function Sessions() {
  const t = useSettingsTexts();
  const sessions = useQuery(sessionsQuery);
  const end = useChange({ change: endSession, touches: [sessionKeys.all], failed: t("save_failed") });
  return (
    <Part title={t("sessions")} about={t("sessions_about")}>
      <Listing label={t("sessions")} query={sessions} empty={null}>
        {(one) => (
          <Row
            key={one.id}
            icon={<Monitor />}
            title={
              <>
                {browserOf(one.user_agent) || t("unknown_browser")}
                {one.current && <Chip tone="ok">{t("this_browser")}</Chip>}
              </>
            }
            detail={[one.address, t("last_here", { when: ago(one.last_seen_at) })].filter(Boolean).join(" · ")}
            aside={
              !one.current && (
                <Button size="sm" onClick={() => end.mutate(one.id)}>
                  {t("end_session")}
                </Button>
              )
            }
          />
        )}
      </Listing>
    </Part>
  );
}
