import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import {
  ALERT_CHANGES,
  type Alert,
  type AlertNotice,
  type AlertRule,
  acknowledgeAlert,
  alertHistoryQuery,
  alertNoticesQuery,
  redeliverAlertNotice,
} from "@/api/queries/alerts";
import { useRights } from "@/api/rights";
import { Button, Chip, Listing, Row } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { dateTime } from "@/lib/i18n/format";
import { useAlertTexts } from "./texts";
import { foundWords } from "./words";

/** What a rule found, and its notices with the outcome of their delivery. */
export function RuleDetail({ rule, manages }: { rule: AlertRule; manages: boolean }) {
  const t = useAlertTexts();
  const alerts = useQuery(alertHistoryQuery(rule.id));
  const notices = useQuery(alertNoticesQuery(rule.id));
  const none = (text: string) => <p className="text-muted text-sm">{text}</p>;
  return (
    <div className="mt-3 flex flex-col gap-4 pb-2">
      <section aria-label={t("history")} className="flex flex-col gap-2">
        <h3 className="font-medium text-sm">{t("history")}</h3>
        <Listing label={t("history")} query={alerts} empty={none(t("history_none"))}>
          {(alert) => <AlertItem key={alert.id} alert={alert} rule={rule} />}
        </Listing>
      </section>
      <section aria-label={t("notices")} className="flex flex-col gap-2">
        <h3 className="font-medium text-sm">{t("notices")}</h3>
        <Listing label={t("notices")} query={notices} empty={none(t("notices_none"))}>
          {(notice) => <NoticeItem key={notice.id} notice={notice} manages={manages} />}
        </Listing>
      </section>
    </div>
  );
}

function AlertItem({ alert, rule }: { alert: Alert; rule: AlertRule }) {
  const t = useAlertTexts();
  const { may } = useRights();
  const acknowledge = useChange({
    change: () => acknowledgeAlert(alert.id),
    touches: ALERT_CHANGES,
    failed: t("failed"),
  });
  const tone = { open: "bad", acknowledged: "warn", resolved: "ok" } as const;
  return (
    <Row
      title={
        <>
          {alert.flow_id ? (
            <Link to="/runs" search={{ flow: alert.flow_id }} className="text-accent text-sm hover:underline">
              {alert.name}
            </Link>
          ) : (
            <span className="text-sm">{t("whole_scope")}</span>
          )}
          <Chip tone={tone[alert.state]}>{t(alert.state)}</Chip>
          {alert.escalated_at && <Chip tone="warn">{t("escalated")}</Chip>}
        </>
      }
      detail={
        <>
          {foundWords(t, alert)} ·{" "}
          {alert.resolved_at
            ? t("between", { from: dateTime(alert.opened_at), to: dateTime(alert.resolved_at) })
            : t("since", { when: dateTime(alert.opened_at) })}
        </>
      }
      aside={
        alert.state === "open" && (
          <Button
            size="sm"
            busy={acknowledge.isPending}
            disabled={!may("runs.start", rule.space_id ?? undefined)}
            onClick={() => acknowledge.mutate()}
          >
            {t("acknowledge")}
          </Button>
        )
      }
    />
  );
}

function NoticeItem({ notice, manages }: { notice: AlertNotice; manages: boolean }) {
  const t = useAlertTexts();
  const redeliver = useChange({
    change: () => redeliverAlertNotice(notice.id),
    touches: ALERT_CHANGES,
    failed: t("failed"),
  });
  const tone = { pending: "info", delivered: "ok", failed: "bad" } as const;
  return (
    <Row
      title={
        <>
          <span className="text-sm">
            {t(`notice_${notice.kind as "opened" | "resolved" | "escalated"}`)} · {t(`channel_${notice.channel}`)}
          </span>
          <Chip tone={tone[notice.status]}>{t(`status_${notice.status}`)}</Chip>
        </>
      }
      detail={
        <>
          {dateTime(notice.sent_at ?? notice.created_at)}
          {notice.error && <span className="block text-bad">{notice.error.message}</span>}
        </>
      }
      aside={
        notice.status === "failed" && (
          <Button size="sm" busy={redeliver.isPending} disabled={!manages} onClick={() => redeliver.mutate()}>
            {t("redeliver")}
          </Button>
        )
      }
    />
  );
}
