import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import {
  AlarmClockOff,
  BellRing,
  Check,
  Clock,
  Inbox,
  type LucideIcon,
  Plug,
  Send,
  TriangleAlert,
  X,
} from "lucide-react";
import type { AlertRule } from "@/api/queries/alerts";
import { type AttentionItem, allAttention, attentionQuery, setDismissed } from "@/api/queries/attention";
import { Button, Chip, Problem, Row, Rows, Skeleton, toast, toastError } from "@/components/ui";
import { ago, dateTime, number } from "@/lib/i18n/format";
import { useObserveTexts } from "./texts";

type Texts = ReturnType<typeof useObserveTexts>;
type AlertKind = AlertRule["kind"];

const ICONS: Record<AttentionItem["kind"], LucideIcon> = {
  alert: BellRing,
  approvals: Inbox,
  connection: Plug,
  expiry: Plug,
  failed_deliveries: Send,
  failed_runs: TriangleAlert,
  queued_runs: Clock,
  trigger: AlarmClockOff,
  failing_trigger: AlarmClockOff,
};
const LINK = "rounded-sm text-sm text-accent hover:underline";

/** What needs a human: failures that are alike in one line, stopped triggers, connections, waiting approvals. */
export function NeedsAttention({ space }: { space: string | null }) {
  const t = useObserveTexts();
  const attention = useQuery(attentionQuery(space));
  return (
    <section aria-label={t("attention")} className="flex flex-col gap-2">
      <div className="flex items-center gap-3">
        <h2 className="flex-1 font-semibold">{t("attention")}</h2>
        <Link to="/alerts" className={LINK}>
          {t("alert_rules")}
        </Link>
      </div>
      {attention.isError && <Problem error={attention.error} retry={() => void attention.refetch()} />}
      {attention.isPending && <Skeleton className="h-12" />}
      {attention.data?.items.length === 0 && (
        <p className="flex items-center gap-2 rounded-lg border border-line bg-surface px-4 py-3 text-muted">
          <Check aria-hidden className="size-4.5 text-ok" />
          {t("attention_none")}
        </p>
      )}
      {attention.data && attention.data.items.length > 0 && (
        <Rows label={t("attention")}>
          {attention.data.items.map((item) => (
            <Item key={item.key} item={item} />
          ))}
        </Rows>
      )}
    </section>
  );
}

function Item({ item }: { item: AttentionItem }) {
  const t = useObserveTexts();
  const Icon = ICONS[item.kind];
  const dismiss = useDismiss(t);
  const last = item.last_at ?? null;
  const count = item.count ?? 1;
  const message = item.kind === "alert" ? t(`alert_${item.code as AlertKind}`) : item.message;
  return (
    <Row
      icon={<Icon aria-hidden className={item.kind === "failed_runs" ? "text-bad" : undefined} />}
      title={
        <>
          <span>{t(`attention_${item.kind}`, { name: item.name ?? "", count, shown: number(count) })}</span>
          {item.since_release && <Chip>{t("attention_since", { release: item.since_release })}</Chip>}
        </>
      }
      detail={
        <>
          {message && <span className="line-clamp-2">{message}</span>}
          <span className="text-xs">{whenOf(item, t)}</span>
        </>
      }
      aside={
        <>
          <Way item={item} />
          {last && (
            <Button
              size="sm"
              kind="ghost"
              icon={<X aria-hidden />}
              busy={dismiss.isPending}
              onClick={() => dismiss.mutate({ key: item.key, dismissed: true })}
            >
              {t("dismiss")}
            </Button>
          )}
        </>
      }
    />
  );
}

function whenOf(item: AttentionItem, t: Texts): string {
  if (item.kind === "expiry") return item.first_at ? t("attention_expires", { when: dateTime(item.first_at) }) : "";
  if (!item.last_at) return "";
  if (item.first_at && item.first_at !== item.last_at) {
    return t("attention_between", { first: ago(item.first_at), last: ago(item.last_at) });
  }
  return ago(item.last_at);
}

const STATUS = { failed_deliveries: "undelivered", failed_runs: "failed", queued_runs: "queued" } as const;

/** Links to the place where the user corrects it. */
function Way({ item }: { item: AttentionItem }) {
  const t = useObserveTexts();
  if (item.kind === "approvals") {
    return (
      <Link to="/inbox/{-$approvalId}" className={LINK}>
        {t("open_inbox")}
      </Link>
    );
  }
  if (item.kind === "connection" || item.kind === "expiry") {
    return (
      <Link to="/settings/{-$section}" params={{ section: "connections" }} className={LINK}>
        {t("open_connections")}
      </Link>
    );
  }
  if (item.kind === "alert") {
    return (
      <Link to="/alerts" className={LINK}>
        {t("open_alerts")}
      </Link>
    );
  }
  if (!item.flow_id) return null;
  if (item.kind === "trigger" || item.kind === "failing_trigger") {
    return (
      <Link to="/flows/$flowId/triggers" params={{ flowId: item.flow_id }} className={LINK}>
        {t("open_trigger")}
      </Link>
    );
  }
  return (
    <>
      {item.run_id && (
        <Link to="/flows/$flowId/runs/$runId" params={{ flowId: item.flow_id, runId: item.run_id }} className={LINK}>
          {t("open_latest")}
        </Link>
      )}
      <Link to="/runs" search={{ status: STATUS[item.kind], flow: item.flow_id }} className={LINK}>
        {t("open_runs")}
      </Link>
    </>
  );
}

function useDismiss(t: Texts) {
  const client = useQueryClient();
  const change = useMutation({
    mutationFn: ({ key, dismissed }: { key: string; dismissed: boolean }) => setDismissed(key, dismissed),
    onSuccess: (_attention, { key, dismissed }) => {
      void client.invalidateQueries(allAttention);
      if (!dismissed) return;
      toast({
        title: t("dismissed"),
        action: { label: t("undo"), onClick: () => change.mutate({ key, dismissed: false }) },
      });
    },
    onError: (error) => toastError(t("dismiss_failed"), error),
  });
  return change;
}
