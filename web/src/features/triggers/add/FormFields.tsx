import { Field, Input, Select, Textarea } from "@/components/ui";
import { useTriggerTexts } from "../texts";
import type { FormDraft } from "./forms";

interface Props {
  draft: FormDraft;
  onChange: (draft: FormDraft) => void;
}

/** Who may submit a form, how its page looks, what follows, and when it closes. */
export function FormFields({ draft, onChange }: Props) {
  const t = useTriggerTexts();
  const set = (changes: Partial<FormDraft>) => onChange({ ...draft, ...changes });
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Field label={t("form_access")} help={t(`form_access_${draft.access}_help`)}>
        {(control) => (
          <Select
            {...control}
            value={draft.access}
            options={(["anyone", "links"] as const).map((value) => ({ value, label: t(`form_access_${value}`) }))}
            onChange={(access) => set({ access })}
          />
        )}
      </Field>
      <Field label={t("form_title")} help={t("form_title_help")}>
        {(control) => (
          <Input
            {...control}
            maxLength={120}
            value={draft.title}
            onChange={(event) => set({ title: event.target.value })}
          />
        )}
      </Field>
      <div className="sm:col-span-2">
        <Field label={t("form_welcome")}>
          {(control) => (
            <Textarea
              {...control}
              maxLength={2000}
              value={draft.welcome}
              onChange={(event) => set({ welcome: event.target.value })}
            />
          )}
        </Field>
      </div>
      <After draft={draft} set={set} />
      <Looks draft={draft} set={set} />
      <Field label={t("form_closes")} help={t("form_closes_help")}>
        {(control) => (
          <Input
            {...control}
            type="datetime-local"
            value={draft.closes}
            onChange={(event) => set({ closes: event.target.value })}
          />
        )}
      </Field>
      <Field label={t("form_most")} help={t("form_most_help")}>
        {(control) => (
          <Input
            {...control}
            inputMode="numeric"
            value={draft.most}
            onChange={(event) => set({ most: event.target.value })}
          />
        )}
      </Field>
    </div>
  );
}

interface PartProps {
  draft: FormDraft;
  set: (changes: Partial<FormDraft>) => void;
}

function After({ draft, set }: PartProps) {
  const t = useTriggerTexts();
  return (
    <>
      <Field label={t("form_after")}>
        {(control) => (
          <Select
            {...control}
            value={draft.after}
            options={(["text", "redirect"] as const).map((value) => ({ value, label: t(`form_after_${value}`) }))}
            onChange={(after) => set({ after })}
          />
        )}
      </Field>
      {draft.after === "redirect" ? (
        <Field label={t("form_redirect")} required>
          {(control) => (
            <Input
              {...control}
              value={draft.redirect}
              placeholder="https://www.example.org/thanks"
              onChange={(event) => set({ redirect: event.target.value })}
            />
          )}
        </Field>
      ) : (
        <Field label={t("form_text")} help={t("form_text_help")}>
          {(control) => (
            <Textarea
              {...control}
              maxLength={2000}
              value={draft.text}
              onChange={(event) => set({ text: event.target.value })}
            />
          )}
        </Field>
      )}
    </>
  );
}

function Looks({ draft, set }: PartProps) {
  const t = useTriggerTexts();
  return (
    <>
      <Field label={t("form_color")}>
        {(control) => (
          <input
            {...control}
            type="color"
            value={draft.color}
            onChange={(event) => set({ color: event.target.value })}
            className="h-8 w-14 rounded-md border border-line-strong bg-surface p-0.5"
          />
        )}
      </Field>
      <Field label={t("form_theme")}>
        {(control) => (
          <Select
            {...control}
            value={draft.theme}
            options={(["auto", "light", "dark"] as const).map((value) => ({ value, label: t(`form_theme_${value}`) }))}
            onChange={(theme) => set({ theme })}
          />
        )}
      </Field>
    </>
  );
}
