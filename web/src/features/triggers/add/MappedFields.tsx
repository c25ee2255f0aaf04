import type { FormField } from "@/api/types";
import { Field, Input } from "@/components/ui";
import { useTriggerTexts } from "../texts";
import type { Kind } from "./draft";
import { type MappedDraft, MEMBERS } from "./mapped";

interface Props {
  kind: Kind;
  /** The form of the flow. */
  fields: readonly FormField[];
  draft: MappedDraft;
  onChange: (draft: MappedDraft) => void;
}

/** Which parts of a call or an item fill the text and the form of its run. */
export function MappedFields({ kind, fields, draft, onChange }: Props) {
  const t = useTriggerTexts();
  const known = new Set(fields.map((one) => one.id));
  const gone = Object.keys(draft.form).filter((id) => !known.has(id));
  const rows = [...fields, ...gone.map((id): FormField => ({ id, label: "" }))];
  const list = `parts-of-${kind}`;
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <datalist id={list}>
        {(MEMBERS[kind] ?? []).map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      <Field label={t("mapped_text")} help={t(kind === "webhook" ? "mapped_text_help_call" : "mapped_text_help")}>
        {(control) => (
          <Input
            {...control}
            list={list}
            className="font-mono"
            value={draft.text ?? ""}
            onChange={(event) => onChange({ ...draft, text: event.target.value })}
          />
        )}
      </Field>
      {rows.length > 0 && (
        <fieldset className="flex flex-col gap-2 sm:col-span-2">
          <legend className="mb-1 font-medium text-sm">{t("mapped_form")}</legend>
          <p className="text-muted text-xs">{t(kind === "webhook" ? "mapped_form_help_call" : "mapped_form_help")}</p>
          {rows.map(({ id, label }) => (
            <div key={id} className="grid grid-cols-[minmax(0,2fr)_minmax(0,3fr)] items-center gap-2 text-sm">
              <span aria-hidden className="truncate">
                {label || id}
              </span>
              <Input
                aria-label={label || id}
                list={list}
                className="font-mono"
                value={draft.form[id] ?? ""}
                onChange={(event) => onChange({ ...draft, form: { ...draft.form, [id]: event.target.value } })}
              />
            </div>
          ))}
        </fieldset>
      )}
    </div>
  );
}
