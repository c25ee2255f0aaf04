import type { FormField } from "@/api/types";
import { AnswerControl, givenOf } from "@/components/answers";
import { FileAnswer } from "@/components/files/FileAnswer";
import { acceptOf, takesFile } from "@/components/files/fields";
import { Field } from "@/components/ui";

interface FormAnswerProps {
  field: FormField;
  value: unknown;
  /** Takes what the answer is to be made of: uploads end in their own time. Nothing, or an empty text, is no answer. */
  onChange: (change: (value: unknown) => unknown) => void;
  onBusy: (busy: boolean) => void;
}

/** The answer to a field of the form, as somebody gives it who runs the flow. */
export function FormAnswer({ field, value, onChange, onBusy }: FormAnswerProps) {
  const label = field.label || field.id;
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
        ) : (
          <AnswerControl
            field={{ ...field, required: false }}
            control={control}
            value={field.type === "json" && typeof value === "string" ? value : givenOf(field, value)}
            onChange={(given) => onChange(() => (field.type === "checkbox" ? given === "true" : given))}
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
