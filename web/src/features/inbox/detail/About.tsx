import { Link } from "@tanstack/react-router";
import type { Approval } from "@/api/queries/approvals";
import { useDeciders } from "@/components/approvals";
import { ago, dateTime } from "@/lib/i18n/format";
import { Due, StatusChip } from "../marks";
import { questionOf } from "../model/question";
import { useInboxTexts } from "../texts";
import { Escalation, Notices } from "./Notices";

/** What is asked, by which run, since when and until when, and who can decide. */
export function About({ approval }: { approval: Approval }) {
  const t = useInboxTexts();
  const deciders = useDeciders();
  const starter = approval.starter_name || t("started_by_visitor");
  return (
    <header className="flex flex-col gap-1.5">
      <h2 className="whitespace-pre-wrap text-lg font-semibold [overflow-wrap:anywhere]">{questionOf(t, approval)}</h2>
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-sm text-muted">
        <StatusChip approval={approval} />
        <Due approval={approval} />
        <span>{approval.flow_name}</span>
        <span aria-hidden>·</span>
        <span>{t("step", { name: approval.step_id })}</span>
        <span aria-hidden>·</span>
        <span>{t("started_by", { name: starter })}</span>
        <span aria-hidden>·</span>
        <time dateTime={approval.created_at} title={dateTime(approval.created_at)}>
          {t("asked", { when: ago(approval.created_at) })}
        </time>
      </p>
      <p className="text-sm text-muted">{t("who", { who: deciders(approval) })}</p>
      <Escalation approval={approval} />
      <Notices approval={approval} />
      <Link
        to="/flows/$flowId/runs/$runId"
        params={{ flowId: approval.flow_id, runId: approval.run_id }}
        search={{ step: approval.step_id }}
        className="self-start text-sm text-accent hover:underline"
      >
        {t("open_run")}
      </Link>
    </header>
  );
}
