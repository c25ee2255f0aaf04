import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ALERT_CHANGES, type AlertRule, addAlertRule, changeAlertRule } from "@/api/queries/alerts";
import { spacesQuery } from "@/api/queries/spaces";
import { useRights } from "@/api/rights";
import { FormDialog } from "@/components/FormDialog";
import { Field, Input, Select } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { i18next } from "@/lib/i18n/i18n";
import { ConditionFields } from "./ConditionFields";
import {
  changeOf,
  draftOf,
  EVERYWHERE,
  isComplete,
  KINDS,
  newRuleOf,
  type RuleDraft,
  type Suggestion,
  thresholdOf,
} from "./draft";
import { NoticeFields } from "./NoticeFields";
import { useAlertTexts } from "./texts";

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
  const [entered, setDraft] = useState<RuleDraft>(() =>
    draftOf(rule, {
      ...(name ? { name } : {}),
      ...(suggestion ? { suggestion } : {}),
      scope: flow?.spaceId ?? spaces[0]?.id ?? EVERYWHERE,
      language: i18next.language === "sv" ? "sv" : "en",
    }),
  );
  // The spaces may come later than the dialog.
  const somewhere = entered.scope === EVERYWHERE && !everywhere && spaces[0] ? { scope: spaces[0].id } : {};
  const draft = { ...entered, ...(rule ? {} : somewhere) };
  const set = (changes: Partial<RuleDraft>) => setDraft((known) => ({ ...known, ...changes }));
  const save = useChange({
    change: () => (rule ? changeAlertRule(rule.id, changeOf(draft)) : addAlertRule(newRuleOf(draft, flow?.id))),
    touches: ALERT_CHANGES,
    done: t("saved"),
  });
  const { kind } = draft;
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
      <ConditionFields draft={draft} onChange={set} />
      <NoticeFields draft={draft} shownWebhook={rule?.webhook_shown ?? ""} onChange={set} />
    </FormDialog>
  );
}
