import {
  BellOff,
  CirclePlay,
  CircleStop,
  EllipsisVertical,
  RotateCcw,
  Send,
  UserRound,
  UserRoundX,
} from "lucide-react";
import { useState } from "react";
import type { AttentionAction, AttentionItem } from "@/api/queries/attention";
import { useRights } from "@/api/rights";
import { Button, IconButton, Menu, type MenuItem } from "@/components/ui";
import { useObserveTexts } from "../texts";
import { AssignDialog } from "./AssignDialog";

interface ActionsMenuProps {
  items: readonly AttentionItem[];
  /** For one item: an icon alone. */
  small?: boolean;
  busy: boolean;
  onAct: (body: AttentionAction) => void;
}

type Texts = ReturnType<typeof useObserveTexts>;
const MUTES = [1, 24, 168] as const;

/** What can be done with items: each action with those to which it applies. */
export function ActionsMenu({ items, small, busy, onAct }: ActionsMenuProps) {
  const t = useObserveTexts();
  const { may, me } = useRights();
  const [assigning, setAssigning] = useState(false);
  const marked = items.filter((item) => item.last_at);
  const send = (action: AttentionAction["action"], affected: readonly AttentionItem[], more = {}) =>
    onAct({ action, keys: affected.map((item) => item.key), published: false, ...more });
  const entries: MenuItem[] = [];
  if (may("runs.start")) {
    entries.push(...onRuns(items, t, send));
    if (entries.length > 0) entries.push({ kind: "line", id: "line" });
    entries.push(
      {
        id: "assign_me",
        label: t("assign_me"),
        icon: <UserRound />,
        onSelect: () => send("assign", marked, { user_id: me?.user.id }),
      },
      { id: "assign", label: t("assign"), icon: <UserRound />, onSelect: () => setAssigning(true) },
    );
    const assigned = marked.filter((item) => item.assignee_id);
    if (assigned.length > 0) {
      entries.push({
        id: "unassign",
        label: t("unassign"),
        icon: <UserRoundX />,
        onSelect: () => send("assign", assigned),
      });
    }
    entries.push({ kind: "line", id: "line2" });
  }
  entries.push(
    ...MUTES.map((hours) => ({
      id: `mute_${hours}`,
      label: t(`mute_${hours}`),
      icon: <BellOff />,
      onSelect: () => send("dismiss", marked, { until: new Date(Date.now() + hours * 3_600_000).toISOString() }),
    })),
    { id: "mute_change", label: t("mute_change"), icon: <BellOff />, onSelect: () => send("dismiss", marked) },
  );
  if (marked.length === 0) return null;
  return (
    <>
      <Menu items={entries}>
        {small ? (
          <IconButton label={t("actions_of", { name: items[0]?.name ?? "" })} disabled={busy}>
            <EllipsisVertical />
          </IconButton>
        ) : (
          <Button kind="primary" busy={busy}>
            {t("actions")}
          </Button>
        )}
      </Menu>
      {assigning && (
        <AssignDialog
          spaceId={marked[0]?.space_id ?? null}
          onClose={() => setAssigning(false)}
          onAssign={(user_id) => send("assign", marked, { user_id })}
        />
      )}
    </>
  );
}

function onRuns(
  items: readonly AttentionItem[],
  t: Texts,
  send: (action: AttentionAction["action"], affected: readonly AttentionItem[], more?: object) => void,
): MenuItem[] {
  const of = (...kinds: AttentionItem["kind"][]) => items.filter((item) => kinds.includes(item.kind));
  const [failed, triggers, waiting] = [of("failed_runs"), of("trigger"), of("queued_runs", "stuck_runs")];
  const deliveries = of("failed_deliveries");
  const entries: (MenuItem | false)[] = [
    failed.length > 0 && {
      id: "resume",
      label: t("resume_runs"),
      icon: <CirclePlay />,
      onSelect: () => send("resume", failed),
    },
    failed.length > 0 && {
      id: "resume_published",
      label: t("resume_published"),
      icon: <CirclePlay />,
      onSelect: () => send("resume", failed, { published: true }),
    },
    failed.length > 0 && {
      id: "rerun",
      label: t("rerun_runs"),
      icon: <RotateCcw />,
      onSelect: () => send("rerun", failed),
    },
    triggers.length > 0 && {
      id: "resume_trigger",
      label: t("resume_triggers"),
      icon: <CirclePlay />,
      onSelect: () => send("resume", triggers),
    },
    waiting.length > 0 && {
      id: "cancel",
      label: t("cancel_runs"),
      icon: <CircleStop />,
      danger: true,
      onSelect: () => send("cancel", waiting),
    },
    deliveries.length > 0 && {
      id: "redeliver",
      label: t("redeliver_all"),
      icon: <Send />,
      onSelect: () => send("redeliver", deliveries),
    },
  ];
  return entries.filter((entry): entry is MenuItem => entry !== false);
}
