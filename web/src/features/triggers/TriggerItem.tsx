import { Link } from "@tanstack/react-router";
import { History, Play } from "lucide-react";
import { useState } from "react";
import {
  fireTrigger,
  pauseTrigger,
  removeTrigger,
  resumeTrigger,
  type Trigger,
  triggerKeys,
} from "@/api/queries/triggers";
import { useRights } from "@/api/rights";
import { ManagedRow } from "@/components/ManagedRow";
import { Chip, toast } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { dateTime } from "@/lib/i18n/format";
import { TriggerDialog } from "./add/TriggerDialog";
import { BackfillDialog } from "./detail/BackfillDialog";
import { TriggerDetail } from "./detail/TriggerDetail";
import { KIND_ICONS } from "./model/icons";
import { triggerWords, waitsWords, zoneOf } from "./model/words";
import { useTriggerTexts } from "./texts";

interface TriggerItemProps {
  trigger: Trigger;
  ofFlow: boolean;
  /** Whether its details are open at first. */
  shown?: boolean;
}

/** A trigger in a list: when it fires, whether it is on, and on request what it did. */
export function TriggerItem({ trigger, ofFlow, shown = false }: TriggerItemProps) {
  const t = useTriggerTexts();
  const { may } = useRights();
  const [backfills, setBackfills] = useState(false);
  const change = { touches: [triggerKeys.all], failed: t("failed") };
  const toggle = useChange({ change: () => (trigger.enabled ? pauseTrigger : resumeTrigger)(trigger.id), ...change });
  const remove = useChange({ change: () => removeTrigger(trigger.id), ...change });
  const fire = useChange({ change: () => fireTrigger(trigger.id), ...change });
  const manages = may("triggers.manage", trigger.space_id);
  const Icon = KIND_ICONS[trigger.kind];
  const startNow = () =>
    fire.mutate(undefined, {
      onSuccess: ({ occurrence }) =>
        toast(
          occurrence.run_id
            ? { title: t("fired"), tone: "ok" }
            : { title: t("skipped_now", { reason: occurrence.message }), tone: "bad" },
        ),
    });
  const { name } = trigger;
  return (
    <ManagedRow
      name={name}
      t={t}
      icon={<Icon aria-hidden />}
      muted={!trigger.enabled}
      manages={manages}
      shown={shown}
      title={
        <>
          {!trigger.enabled && (
            <Chip tone="warn">
              {trigger.paused_reason ? t("paused_because", { reason: trigger.paused_reason }) : t("paused")}
            </Chip>
          )}
          {!ofFlow && (
            <Link
              to="/flows/$flowId/triggers"
              params={{ flowId: trigger.flow_id }}
              className="font-normal text-accent text-sm hover:underline"
            >
              {trigger.flow_name}
            </Link>
          )}
        </>
      }
      detail={
        <>
          {triggerWords(t, trigger)}
          {trigger.next_at && <span> · {t("next", { when: dateTime(trigger.next_at, zoneOf(trigger)) })}</span>}
          {trigger.enabled && trigger.poll_error && (
            <span className="block text-bad">
              {t(trigger.kind === "schedule" ? "calendar_failed" : "poll_failed", { reason: trigger.poll_error })}
            </span>
          )}
          {trigger.enabled && trigger.waits_for && (
            <span className="block">{waitsWords(t, trigger.kind, trigger.waits_for)}</span>
          )}
          {(trigger.problems ?? []).map((problem) => (
            <span key={`${problem.field} ${problem.message}`} className="block text-warn">
              {problem.message} {problem.remedy}
            </span>
          ))}
          {!trigger.published && <span className="block text-warn">{t("not_published")}</span>}
        </>
      }
      toggle={{ checked: trigger.enabled, busy: toggle.isPending, onChange: () => toggle.mutate() }}
      items={[
        {
          id: "fire",
          label: t("fire"),
          icon: <Play />,
          disabled: !may("runs.start", trigger.space_id),
          onSelect: startNow,
        },
        ...(trigger.kind === "schedule"
          ? [
              {
                id: "backfill",
                label: t("backfill"),
                icon: <History />,
                disabled: !manages,
                onSelect: () => setBackfills(true),
              },
            ]
          : []),
      ]}
      removal={remove}
      editor={(onClose) => (
        <TriggerDialog flowId={trigger.flow_id} spaceId={trigger.space_id} trigger={trigger} onClose={onClose} />
      )}
      more={() => <TriggerDetail trigger={trigger} manages={manages} />}
    >
      {backfills && <BackfillDialog trigger={trigger} onClose={() => setBackfills(false)} />}
    </ManagedRow>
  );
}
