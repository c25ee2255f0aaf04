import type { Approval } from "@/api/queries/approvals";
import { dateTime } from "@/lib/i18n/format";
import { useInboxTexts } from "../texts";

/** Who else may decide, from when, while that lies ahead. */
export function Escalation({ approval }: { approval: Approval }) {
  const t = useInboxTexts();
  const { escalates_at: at, escalation } = approval;
  if (!at || approval.status !== "pending" || new Date(at).getTime() <= Date.now()) return null;
  const who = escalation.map((one) => one.name || `role:${one.role}`).join(", ");
  return <p className="text-sm text-muted">{t("escalates", { who, when: dateTime(at) })}</p>;
}

/** The notices by webhook, mail and chat: when each was sent, or is due. Open when one failed. */
export function Notices({ approval }: { approval: Approval }) {
  const t = useInboxTexts();
  if (approval.notices.length === 0) return null;
  return (
    <details className="text-sm text-muted" open={approval.notices.some((one) => one.status === "failed")}>
      <summary className="cursor-pointer">{t("notices")}</summary>
      <ul aria-label={t("notices")} className="flex flex-col gap-0.5 pt-1">
        {approval.notices.map((one, index) => {
          const at = one.sent_at ?? one.due_at;
          return (
            <li key={index} className={one.status === "failed" ? "text-bad" : ""}>
              {one.recipient ? t("notice_link", { who: one.recipient }) : t(`notice_${one.kind}`)} ·{" "}
              {one.connection ? t("notice_by", { name: one.connection }) : one.url} ·{" "}
              {t(`notice_${one.status}`, { when: at ? dateTime(at) : "" })}
              {one.error && ` ${one.error}`}
            </li>
          );
        })}
      </ul>
    </details>
  );
}
