import { useQuery } from "@tanstack/react-query";
import { Monitor } from "lucide-react";
import { endOtherSessions, endSession, sessionKeys, sessionsQuery } from "@/api/queries/sessions";
import { Button, Chip, Listing, Row } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { ago, dateTime } from "@/lib/i18n/format";
import { Part } from "../Section";
import { useSettingsTexts } from "../texts";
import { browserOf } from "./browserOf";

/** Where the caller is signed in. */
export function Sessions() {
  const t = useSettingsTexts();
  const sessions = useQuery(sessionsQuery);
  const change = { touches: [sessionKeys.all], failed: t("save_failed") };
  const end = useChange({ change: endSession, ...change });
  const endOthers = useChange({ change: endOtherSessions, ...change, done: t("others_ended") });
  const others = sessions.data?.some((one) => !one.current);
  return (
    <Part
      title={t("sessions")}
      about={t("sessions_about")}
      action={
        others && (
          <Button size="sm" busy={endOthers.isPending} onClick={() => endOthers.mutate()}>
            {t("end_others")}
          </Button>
        )
      }
    >
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
            detail={[
              one.address,
              t("last_here", { when: ago(one.last_seen_at) }),
              t("signed_in_at", { when: dateTime(one.created_at) }),
            ]
              .filter(Boolean)
              .join(" · ")}
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
