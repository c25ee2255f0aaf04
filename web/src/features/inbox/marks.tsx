import type { ApprovalSummary } from "@/api/queries/approvals";
import { Chip, type Tone } from "@/components/ui";
import { ago, dateTime } from "@/lib/i18n/format";
import { useInboxTexts } from "./texts";

const TONES: Record<ApprovalSummary["status"], Tone> = {
  pending: "info",
  approved: "ok",
  rejected: "bad",
  timed_out: "warn",
  closed: "neutral",
};

/** The state of an approval that is over, or how many of several users have approved. */
export function StatusChip({ approval }: { approval: ApprovalSummary }) {
  const t = useInboxTexts();
  if (approval.status !== "pending") return <Chip tone={TONES[approval.status]}>{t(`status_${approval.status}`)}</Chip>;
  if (approval.needed < 2) return null;
  return <Chip>{t("counted", { count: approval.approvals, needed: approval.needed })}</Chip>;
}

const SOON_MS = 3_600_000;

/** Until when a pending approval can be decided; the last hour stands out. */
export function Due({ approval }: { approval: ApprovalSummary }) {
  const t = useInboxTexts();
  if (approval.status !== "pending" || !approval.due_at) return null;
  const left = Date.parse(approval.due_at) - Date.now();
  return (
    <Chip tone={left < SOON_MS ? "warn" : "neutral"} title={t("decide_before", { when: dateTime(approval.due_at) })}>
      {left < 0 ? t("overdue") : t("due", { when: ago(approval.due_at) })}
    </Chip>
  );
}
