import { CircleAlert, Pencil } from "lucide-react";
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
export function LastRun({ item, brief }: { item: FlowItem; brief?: boolean }) {
  const t = useHomeTexts();
  const run = item.last_run;
  if (!run) return <span className="text-xs text-muted">{t("never_run")}</span>;
  const when = run.finished_at ?? run.created_at;
  return (
    <span className="flex min-w-0 shrink-0 items-center gap-1.5 text-xs text-muted" title={dateTime(when)}>
      <StateChip state={run.status} label={t(`run_${run.status}`)} />
      <span className="truncate">{ago(when, { brief })}</span>
    </span>
  );
}

/** Who changed it, and when; a pen stands for the word beside the newest run. */
export function Changed({ item, brief = false }: { item: FlowItem; brief?: boolean }) {
  const t = useHomeTexts();
  const when = ago(item.updated_at, { brief });
  if (brief && item.last_run) {
    return (
      <span className="flex items-center gap-1 truncate text-xs text-muted" title={t("changed", { when })}>
        <Pencil aria-hidden className="size-3 shrink-0" />
        <span className="sr-only">{t("changed", { when: "" })}</span>
        {when}
      </span>
    );
  }
  return (
    <span className="truncate text-xs text-muted" title={dateTime(item.updated_at)}>
      {item.updated_by && !brief ? t("changed_by", { when, who: item.updated_by }) : t("changed", { when })}
    </span>
  );
}
