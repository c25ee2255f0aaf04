import { CircleAlert } from "lucide-react";
import type { FlowItem } from "@/api/queries/flowList";
import { Chip, StateChip } from "@/components/ui";
import { ago, dateTime } from "@/lib/i18n/format";
import { useHomeTexts } from "../texts";

/** Whether a flow is published, and what keeps its draft from running. */
export function FlowState({ item }: { item: FlowItem }) {
  const t = useHomeTexts();
  const version = item.release ?? 0;
  return (
    <>
      {item.release ? (
        <Chip tone={item.changed_since ? "accent" : "ok"}>
          {t(item.changed_since ? "changed_since" : "published", { version })}
        </Chip>
      ) : (
        <Chip>{t("draft")}</Chip>
      )}
      {item.problems > 0 && (
        <Chip tone="warn" icon={<CircleAlert />}>
          {t("problems", { count: item.problems })}
        </Chip>
      )}
    </>
  );
}

/** How the newest run came out, and when. */
export function LastRun({ item }: { item: FlowItem }) {
  const t = useHomeTexts();
  const run = item.last_run;
  if (!run) return <span className="text-xs text-muted">{t("never_run")}</span>;
  const when = run.finished_at ?? run.created_at;
  return (
    <span className="flex min-w-0 items-center gap-1.5 text-xs text-muted" title={dateTime(when)}>
      <StateChip state={run.status} label={t(`run_${run.status}`)} />
      <span className="truncate">{ago(when)}</span>
    </span>
  );
}

/** Who changed it, and when. */
export function Changed({ item }: { item: FlowItem }) {
  const t = useHomeTexts();
  const when = ago(item.updated_at);
  return (
    <span className="truncate text-xs text-muted" title={dateTime(item.updated_at)}>
      {item.updated_by ? t("changed_by", { when, who: item.updated_by }) : t("changed", { when })}
    </span>
  );
}
