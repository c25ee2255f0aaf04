import { Link } from "@tanstack/react-router";
import { BellOff, BellRing, Send } from "lucide-react";
import { useState } from "react";
import { ALERT_CHANGES, type AlertRule, changeAlertRule, removeAlertRule, testAlertRule } from "@/api/queries/alerts";
import { useRights } from "@/api/rights";
import { ManagedRow } from "@/components/ManagedRow";
import { Chip, type Tone } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { ago, dateTime } from "@/lib/i18n/format";
import { RuleDetail } from "./RuleDetail";
import { RuleDialog } from "./RuleDialog";
import { TestDialog } from "./TestDialog";
import { type AlertTexts, useAlertTexts } from "./texts";
import { ruleWords, timeWords } from "./words";

const MUTES = [3_600, 28_800, 86_400];
const TONES: Record<AlertRule["state"], Tone> = {
  ok: "ok",
  open: "bad",
  acknowledged: "warn",
  muted: "neutral",
  off: "neutral",
};

/** A rule in a list: what it watches for, its state, and on request what it found. */
export function RuleItem({ rule, ofFlow }: { rule: AlertRule; ofFlow: boolean }) {
  const t = useAlertTexts();
  const { may } = useRights();
  const [testing, setTesting] = useState(false);
  const about = { touches: ALERT_CHANGES, failed: t("failed") };
  const change = useChange({
    change: (body: Parameters<typeof changeAlertRule>[1]) => changeAlertRule(rule.id, body),
    ...about,
  });
  const remove = useChange({ change: () => removeAlertRule(rule.id), ...about });
  const test = useChange({ change: () => testAlertRule(rule.id), ...about });
  const manages = may("alerts.manage", rule.space_id ?? undefined);
  const notifies = rule.connection_id !== null || rule.webhook_shown !== "" || rule.escalation_connection_id !== null;
  const mute = (seconds: number) => change.mutate({ muted_until: new Date(Date.now() + seconds * 1000).toISOString() });
  const { name } = rule;
  return (
    <ManagedRow
      name={name}
      t={t}
      icon={<BellRing aria-hidden className={rule.state === "open" ? "text-bad" : undefined} />}
      muted={!rule.enabled}
      manages={manages}
      title={
        <>
          <Chip tone={TONES[rule.state]}>{stateWords(t, rule)}</Chip>
          {!ofFlow && rule.flow_id && (
            <Link
              to="/flows/$flowId"
              params={{ flowId: rule.flow_id }}
              className="font-normal text-accent text-sm hover:underline"
            >
              {rule.flow_name}
            </Link>
          )}
        </>
      }
      detail={
        <>
          {ruleWords(t, rule)} · {rule.fired_at ? t("fired", { when: ago(rule.fired_at) }) : t("never_fired")}
          {rule.failed_notices > 0 && (
            <span className="block text-bad">{t("undelivered", { count: rule.failed_notices })}</span>
          )}
        </>
      }
      toggle={{ checked: rule.enabled, busy: change.isPending, onChange: (enabled) => change.mutate({ enabled }) }}
      items={[
        {
          id: "test",
          label: t("test"),
          icon: <Send />,
          disabled: !manages || !notifies,
          onSelect: () => {
            setTesting(true);
            test.mutate();
          },
        },
        ...(rule.state === "muted"
          ? [
              {
                id: "unmute",
                label: t("unmute"),
                icon: <BellRing />,
                disabled: !manages,
                onSelect: () => change.mutate({ muted_until: null }),
              },
            ]
          : MUTES.map((seconds) => ({
              id: `mute_${seconds}`,
              label: t("mute", { time: timeWords(t, seconds) }),
              icon: <BellOff />,
              disabled: !manages,
              onSelect: () => mute(seconds),
            }))),
      ]}
      removal={remove}
      editor={(onClose) => <RuleDialog rule={rule} onClose={onClose} />}
      more={() => <RuleDetail rule={rule} manages={manages} />}
    >
      {testing && (
        <TestDialog
          name={name}
          outcomes={test.data}
          busy={test.isPending}
          error={test.error}
          onClose={() => setTesting(false)}
        />
      )}
    </ManagedRow>
  );
}

function stateWords(t: AlertTexts, rule: AlertRule): string {
  if (rule.state === "open") return t("state_open", { count: rule.open });
  if (rule.state === "muted" && rule.muted_until) return t("state_muted", { when: dateTime(rule.muted_until) });
  return t(`state_${rule.state as "ok" | "acknowledged" | "off"}`);
}
