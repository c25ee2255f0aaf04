import { Link } from "@tanstack/react-router";
import {
  AlarmClockOff,
  BellRing,
  CircleDollarSign,
  Clock,
  Inbox,
  type LucideIcon,
  Plug,
  Send,
  ServerOff,
  TriangleAlert,
  Unplug,
  X,
} from "lucide-react";
import type { AlertRule } from "@/api/queries/alerts";
import type { AttentionAction, AttentionItem } from "@/api/queries/attention";
import type { Selection } from "@/components/lists";
import { Button, Checkbox, Chip, Row } from "@/components/ui";
import { ago, dateTime, number } from "@/lib/i18n/format";
import { useObserveTexts } from "../texts";
import { ActionsMenu } from "./ActionsMenu";

type Texts = ReturnType<typeof useObserveTexts>;
type AlertKind = AlertRule["kind"];

const ICONS: Record<AttentionItem["kind"], LucideIcon> = {
  alert: BellRing,
  approvals: Inbox,
  budget: CircleDollarSign,
  connection: Plug,
  dead_worker: ServerOff,
  expiry: Plug,
  failed_deliveries: Send,
  failed_runs: TriangleAlert,
  queued_runs: Clock,
  stuck_runs: Unplug,
  trigger: AlarmClockOff,
  failing_trigger: AlarmClockOff,
};
const LINK = "rounded-sm text-sm text-accent hover:underline";

interface AttentionRowProps {
  item: AttentionItem;
  selection: Selection;
  busy: boolean;
  onAct: (body: AttentionAction) => void;
}

/** One item: what it is, since when, whose it is, and what can be done. */
export function AttentionRow({ item, selection, busy, onAct }: AttentionRowProps) {
  const t = useObserveTexts();
  const Icon = ICONS[item.kind];
  const count = item.count ?? 1;
  const title = t(`attention_${item.kind}`, {
    name: item.name ?? "",
    count,
    shown: `${number(count)}${item.counts_more ? "+" : ""}`,
  });
  const message = item.kind === "alert" ? t(`alert_${item.code as AlertKind}`) : item.message;
  return (
    <Row
      muted={item.dismissed ?? false}
      icon={
        <span className="flex items-center gap-3">
          {item.last_at ? (
            <Checkbox
              aria-label={t("select_item", { name: title })}
              checked={selection.has(item.key)}
              onChange={() => selection.toggle(item.key)}
            />
          ) : (
            <span className="size-4" />
          )}
          <Icon aria-hidden className={item.kind === "failed_runs" ? "text-bad" : undefined} />
        </span>
      }
      title={
        <>
          <span>{title}</span>
          {item.step_id && <Chip>{t("attention_step", { step: item.step_id })}</Chip>}
          {item.since_release && <Chip>{t("attention_since", { release: item.since_release })}</Chip>}
          {item.assignee && <Chip tone="info">{item.assignee}</Chip>}
          {item.muted_until && <Chip>{t("muted_until", { when: dateTime(item.muted_until) })}</Chip>}
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
          {item.last_at && (
            <Button
              size="sm"
              kind="ghost"
              icon={item.dismissed ? undefined : <X aria-hidden />}
              disabled={busy}
              onClick={() =>
                onAct({ action: item.dismissed ? "restore" : "dismiss", keys: [item.key], published: false })
              }
            >
              {t(item.dismissed ? "show_again" : "dismiss")}
            </Button>
          )}
          <ActionsMenu small items={[item]} busy={busy} onAct={onAct} />
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

const STATUS = {
  failed_deliveries: "undelivered",
  failed_runs: "failed",
  queued_runs: "queued",
  stuck_runs: "running",
} as const;

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
  if (item.kind === "dead_worker") {
    return (
      <Link to="/settings/{-$section}" params={{ section: "processes" }} className={LINK}>
        {t("open_processes")}
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
  if (item.kind === "budget") {
    return (
      <Link to="/flows/$flowId" params={{ flowId: item.flow_id }} className={LINK}>
        {t("open_flow")}
      </Link>
    );
  }
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
