import type { FormField } from "@/api/types";
import { AnswerField, type Fault, type Given, useFaultText } from "@/components/answers";
import { FileAnswer } from "@/components/files/FileAnswer";
import { acceptOf, takesFile } from "@/components/files/fields";
import { Field, Textarea } from "@/components/ui";
import { own } from "@/lib/own";
import type { FormValues } from "../model/form";
import { useRunTexts } from "../texts";

interface RunFormProps {
  form: readonly FormField[];
  /** Whether the flow reads the text of the run. */
  asksText: boolean;
  /** Whether it reads files that no field of the form asks for. */
  asksFiles: boolean;
  values: FormValues;
  faults: Record<string, Fault>;
  onChange: (change: (values: FormValues) => FormValues) => void;
  onBusy: (busy: boolean) => void;
}

/** The questions that the flow's form schema asks, each with its control. */
export function RunForm({ form, asksText, asksFiles, values, faults, onChange, onBusy }: RunFormProps) {
  const t = useRunTexts();
  const faultText = useFaultText();
  const answer = (id: string, given: Given) =>
    onChange((before) => ({ ...before, answers: { ...before.answers, [id]: given } }));
  return (
    <div className="flex flex-col gap-4">
      {asksFiles && (
        <Field label={t("input_files")} help={t("input_files_help")}>
          {(control) => (
            <FileAnswer
              control={control}
              ids={values.loose}
              label={t("input_files")}
              onBusy={onBusy}
              onChange={(change) => onChange((before) => ({ ...before, loose: change(before.loose) }))}
            />
          )}
        </Field>
      )}
      {asksText && (
        <Field label={t("input_text")} help={t("input_text_help")}>
          {(control) => (
            <Textarea
              {...control}
              value={values.text}
              onChange={(event) => onChange((before) => ({ ...before, text: event.target.value }))}
            />
          )}
        </Field>
      )}
      {form.map((field) => {
        const fault = own(faults, field.id);
        if (!takesFile(field)) {
          const value = own(values.answers, field.id);
          const set = (given: Given) => answer(field.id, given);
          return <AnswerField key={field.id} field={field} value={value} fault={fault} onChange={set} />;
        }
        return (
          <Field
            key={field.id}
            label={field.label || field.id}
            required={field.required ?? false}
            error={faultText(fault)}
          >
            {(control) => (
              <FileAnswer
                control={control}
                ids={own(values.files, field.id) ?? []}
                accept={acceptOf(field)}
                label={field.label || field.id}
                onBusy={onBusy}
                onChange={(change) =>
                  onChange((before) => ({
                    ...before,
                    files: { ...before.files, [field.id]: change(own(before.files, field.id) ?? []) },
                  }))
                }
              />
            )}
          </Field>
        );
      })}
    </div>
  );
}
