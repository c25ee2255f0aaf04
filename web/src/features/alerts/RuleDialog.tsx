import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ALERT_CHANGES, type AlertRule, addAlertRule, changeAlertRule } from "@/api/queries/alerts";
import { spacesQuery } from "@/api/queries/spaces";
import { useRights } from "@/api/rights";
import { FormDialog } from "@/components/FormDialog";
import { Field, Input, Select } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { i18next } from "@/lib/i18n/i18n";
import {
  changeOf,
  draftOf,
  EVERYWHERE,
  isComplete,
  isThreshold,
  KINDS,
  newRuleOf,
  type RuleDraft,
  type Suggestion,
  thresholdOf,
  WINDOWS,
} from "./draft";
import { NoticeFields } from "./NoticeFields";
import { useAlertTexts } from "./texts";
import { timeWords } from "./words";

interface RuleDialogProps {
  /** The rule that is changed; a new one without it. */
  rule?: AlertRule;
  /** The flow that a new rule is of. */
  flow?: { id: string; name: string; spaceId: string };
  name?: string;
  suggestion?: Suggestion;
  onClose: () => void;
}

/** Adds or changes a rule: what it watches for, where, and who is notified. */
export function RuleDialog({ rule, flow, name, suggestion, onClose }: RuleDialogProps) {
  const t = useAlertTexts();
  const { me, may } = useRights();
  const spaces = (useQuery(spacesQuery).data ?? []).filter(({ id }) => may("alerts.manage", id));
  const everywhere = me?.permissions.every_space.includes("alerts.manage") ?? false;
  const [draft, setDraft] = useState<RuleDraft>(() =>
    draftOf(rule, {
      ...(name ? { name } : {}),
      ...(suggestion ? { suggestion } : {}),
      scope: flow?.spaceId ?? spaces[0]?.id ?? EVERYWHERE,
      language: i18next.language === "sv" ? "sv" : "en",
    }),
  );
  const set = (changes: Partial<RuleDraft>) => setDraft((known) => ({ ...known, ...changes }));
  const save = useChange({
    change: () => (rule ? changeAlertRule(rule.id, changeOf(draft)) : addAlertRule(newRuleOf(draft, flow?.id))),
    touches: ALERT_CHANGES,
    done: t("saved"),
  });
  const { kind } = draft;
  const windows = [...new Set([...WINDOWS, Number(draft.window)])].sort((a, b) => a - b);
  const windowText = kind === "silent" ? "window_silent" : kind === "queue" ? "window_queue" : "window";
  return (
    <FormDialog
      title={rule ? t("edit") : t("add")}
      {...(flow ? { description: t("scope_flow", { name: flow.name }) } : {})}
      action={t("save")}
      ready={isComplete(draft)}
      busy={save.isPending}
      error={save.error}
      onSubmit={() => save.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      <Field label={t("name")} required>
        {(control) => (
          <Input
            {...control}
            maxLength={120}
            value={draft.name}
            onChange={(event) => set({ name: event.target.value })}
          />
        )}
      </Field>
      {!rule && (
        <Field label={t("kind")}>
          {(control) => (
            <Select
              {...control}
              value={kind}
              options={KINDS.map((value) => ({ value, label: t(`kind_${value}`) }))}
              onChange={(value) => set({ kind: value, threshold: thresholdOf(value) })}
            />
          )}
        </Field>
      )}
      {!rule && !flow && (
        <Field label={t("scope")}>
          {(control) => (
            <Select
              {...control}
              value={draft.scope}
              options={[
                ...(everywhere ? [{ value: EVERYWHERE, label: t("scope_all") }] : []),
                ...spaces.map((space) => ({ value: space.id, label: space.name })),
              ]}
              onChange={(scope) => set({ scope, connection: "", escalateThrough: "" })}
            />
          )}
        </Field>
      )}
      <div className="grid gap-4 sm:grid-cols-2">
        {kind !== "silent" && (
          <Field label={t(`threshold_${kind}`)} error={isThreshold(draft) ? null : t("number_needed")}>
            {(control) => (
              <Input
                {...control}
                inputMode="decimal"
                value={draft.threshold}
                onChange={(event) => set({ threshold: event.target.value })}
              />
            )}
          </Field>
        )}
        {kind !== "budget" && (
          <Field label={t(windowText)}>
            {(control) => (
              <Select
                {...control}
                value={draft.window}
                options={windows.map((seconds) => ({ value: String(seconds), label: timeWords(t, seconds) }))}
                onChange={(value) => set({ window: value })}
              />
            )}
          </Field>
        )}
        {kind === "failure_rate" && (
          <Field label={t("fewest")} help={t("fewest_help")}>
            {(control) => (
              <Input
                {...control}
                inputMode="numeric"
                value={draft.fewest}
                onChange={(event) => set({ fewest: event.target.value })}
              />
            )}
          </Field>
        )}
      </div>
      <NoticeFields draft={draft} shownWebhook={rule?.webhook_shown ?? ""} onChange={set} />
    </FormDialog>
  );
}
