import { useQuery } from "@tanstack/react-query";
import { connectionsQuery } from "@/api/queries/connections";
import { spacesQuery } from "@/api/queries/spaces";
import { Checkbox, Field, Input, Select } from "@/components/ui";
import { EVERYWHERE, type RuleDraft } from "./draft";
import { useAlertTexts } from "./texts";
import { timeWords } from "./words";

const NOBODY = "-";
const ESCALATIONS = [900, 1_800, 3_600, 14_400, 86_400];
const QUIETS = [300, 900, 3_600, 21_600, 86_400];

interface NoticeFieldsProps {
  draft: RuleDraft;
  /** The stored address of the webhook, without its confidential parts. */
  shownWebhook: string;
  onChange: (changes: Partial<RuleDraft>) => void;
}

/** Who a rule notifies, how often, and what happens when nobody acknowledges. */
export function NoticeFields({ draft, shownWebhook, onChange }: NoticeFieldsProps) {
  const t = useAlertTexts();
  const spaces = useQuery(spacesQuery).data ?? [];
  const everywhere = draft.scope === EVERYWHERE;
  const connections = (useQuery(connectionsQuery(everywhere ? null : draft.scope)).data ?? []).filter(
    ({ kind, owner_id }) => owner_id === null && (kind === "smtp" || kind === "notification"),
  );
  const options = [
    { value: NOBODY, label: t("notify_none") },
    ...connections.map(({ id, name, space_id }) => ({
      value: id,
      label: everywhere ? `${name} · ${spaces.find((space) => space.id === space_id)?.name ?? ""}` : name,
    })),
  ];
  const isMail = (id: string) => connections.some((one) => one.id === id && one.kind === "smtp");
  const times = (seconds: readonly number[], now: string) =>
    [...new Set([...seconds, Number(now)])]
      .filter((one) => one > 0)
      .sort((a, b) => a - b)
      .map((one) => ({ value: String(one), label: timeWords(t, one) }));
  return (
    <>
      <Field label={t("notify")} help={t("notify_help")}>
        {(control) => (
          <Select
            {...control}
            value={draft.connection || NOBODY}
            options={options}
            onChange={(value) => onChange({ connection: value === NOBODY ? "" : value })}
          />
        )}
      </Field>
      {isMail(draft.connection) && (
        <Recipients value={draft.recipients} onChange={(recipients) => onChange({ recipients })} />
      )}
      <Field label={t("webhook")} help={shownWebhook ? t("webhook_kept", { url: shownWebhook }) : t("webhook_help")}>
        {(control) => (
          <Input
            {...control}
            type="url"
            value={draft.webhook}
            disabled={draft.dropWebhook}
            placeholder="https://"
            onChange={(event) => onChange({ webhook: event.target.value })}
          />
        )}
      </Field>
      {shownWebhook && (
        <Choice
          label={t("webhook_remove")}
          checked={draft.dropWebhook}
          onChange={(dropWebhook) => onChange({ dropWebhook })}
        />
      )}
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label={t("escalate")}>
          {(control) => (
            <Select
              {...control}
              value={draft.escalateAfter}
              options={[{ value: "0", label: t("never") }, ...times(ESCALATIONS, draft.escalateAfter)]}
              onChange={(escalateAfter) => onChange({ escalateAfter })}
            />
          )}
        </Field>
        {draft.escalateAfter !== "0" && (
          <Field label={t("escalate_through")}>
            {(control) => (
              <Select
                {...control}
                value={draft.escalateThrough}
                options={options.slice(1)}
                onChange={(escalateThrough) => onChange({ escalateThrough })}
              />
            )}
          </Field>
        )}
      </div>
      {draft.escalateAfter !== "0" && isMail(draft.escalateThrough) && (
        <Recipients value={draft.escalateTo} onChange={(escalateTo) => onChange({ escalateTo })} />
      )}
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label={t("quiet")}>
          {(control) => (
            <Select
              {...control}
              value={draft.quiet}
              options={times(QUIETS, draft.quiet)}
              onChange={(quiet) => onChange({ quiet })}
            />
          )}
        </Field>
        <Field label={t("language")}>
          {(control) => (
            <Select
              {...control}
              value={draft.language}
              options={[
                { value: "en" as const, label: t("english") },
                { value: "sv" as const, label: t("swedish") },
              ]}
              onChange={(language) => onChange({ language })}
            />
          )}
        </Field>
      </div>
      <Choice
        label={t("resolved_too")}
        checked={draft.notifyResolved}
        onChange={(notifyResolved) => onChange({ notifyResolved })}
      />
    </>
  );
}

function Recipients({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const t = useAlertTexts();
  return (
    <Field label={t("recipients")} help={t("recipients_help")} required>
      {(control) => (
        <Input
          {...control}
          value={value}
          placeholder="anna@example.org"
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

function Choice({ label, checked, onChange }: { label: string; checked: boolean; onChange: (on: boolean) => void }) {
  return (
    <div className="flex items-center gap-2 text-sm">
      <Checkbox aria-label={label} checked={checked} onChange={onChange} />
      <span aria-hidden>{label}</span>
    </div>
  );
}
