import type { FormField } from "@/api/types";
import { Field } from "@/components/ui";
import { AnswerControl } from "./AnswerControl";
import type { Fault, Given } from "./answers";
import { useAnswerTexts } from "./texts";

interface AnswerFieldProps {
  field: FormField;
  value: Given | undefined;
  fault: Fault | null | undefined;
  onChange: (value: Given) => void;
}

/** A field of a form that takes no file, with what is wrong with its answer. */
export function AnswerField({ field, value, fault, onChange }: AnswerFieldProps) {
  const error = useFaultText()(fault);
  return (
    <Field label={field.label || field.id} required={field.required ?? false} error={error}>
      {(control) => <AnswerControl field={field} value={value} onChange={onChange} control={control} />}
    </Field>
  );
}

/** Words for what is wrong with an answer. */
export function useFaultText() {
  const t = useAnswerTexts();
  return (fault: Fault | null | undefined) => (fault ? t(fault.reason, { bound: fault.bound ?? "" }) : null);
}
