import type { FormField } from "@/api/types";
import { FileAnswer } from "@/components/files/FileAnswer";
import { acceptOf, takesFile } from "@/components/files/fields";
import { Field, Input, Select } from "@/components/ui";
import { useCaseTexts } from "./texts";

interface FormAnswerProps {
  field: FormField;
  value: unknown;
  /** Takes what the answer is to be made of: uploads end in their own time. Nothing, or an empty text, is no answer. */
  onChange: (change: (value: unknown) => unknown) => void;
  onBusy: (busy: boolean) => void;
}

/** The answer to a field of the form, as somebody gives it who runs the flow. */
export function FormAnswer({ field, value, onChange, onBusy }: FormAnswerProps) {
  const t = useCaseTexts();
  const label = field.label || field.id;
  const text =
    value === undefined || value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
  const say = (next: string) => onChange(() => next);
  return (
    <Field label={label}>
      {(control) =>
        takesFile(field) ? (
          <FileAnswer
            control={control}
            ids={idsIn(value)}
            accept={acceptOf(field)}
            label={label}
            onBusy={onBusy}
            onChange={(change) => onChange((before) => answerOf(change(idsIn(before))))}
          />
        ) : field.type === "select" ? (
          <Select
            {...control}
            value={text || NONE}
            options={[
              { value: NONE, label: t("choose") },
              ...(field.options ?? []).map((one) => ({ value: one, label: one })),
            ]}
            onChange={(next) => say(next === NONE ? "" : next)}
          />
        ) : (
          <Input
            {...control}
            {...(field.type === "number" ? { inputMode: "decimal" as const } : {})}
            value={text}
            onChange={(event) => say(event.target.value)}
          />
        )
      }
    </Field>
  );
}

const idsIn = (value: unknown): string[] =>
  value === undefined || value === null ? [] : (Array.isArray(value) ? value : [value]).map(String);

/** One file is its id, several are a list of them. */
const answerOf = (ids: string[]): unknown => (ids.length > 1 ? ids : ids[0]);

/** No option is called so: what a list of choices has for none. */
const NONE = "\u0000none";
