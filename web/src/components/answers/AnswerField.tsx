import { useId } from "react";
import type { FormField } from "@/api/types";
import { Checkbox, Field } from "@/components/ui";
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
  if (field.type === "checkbox") return <Ticked field={field} value={value} error={error} onChange={onChange} />;
  return (
    <Field label={field.label || field.id} required={field.required ?? false} error={error}>
      {(control) => <AnswerControl field={field} value={value} onChange={onChange} control={control} />}
    </Field>
  );
}

/** A checkbox next to its label. */
function Ticked({ field, value, error, onChange }: Omit<AnswerFieldProps, "fault"> & { error: string | null }) {
  const id = useId();
  return (
    <div className="flex flex-col gap-1">
      <div className="flex items-start gap-2">
        <span className="flex h-5 items-center">
          <Checkbox
            id={id}
            checked={value === "true"}
            onChange={(checked) => onChange(String(checked))}
            {...(error ? { "aria-invalid": true as const, "aria-describedby": `${id}-about` } : {})}
          />
        </span>
        <label htmlFor={id} className="min-w-0 text-sm font-medium [overflow-wrap:anywhere]">
          {field.label || field.id}
          {field.required && (
            <span aria-hidden className="ml-0.5 text-bad">
              *
            </span>
          )}
        </label>
      </div>
      {error && (
        <p id={`${id}-about`} role="alert" className="text-xs text-bad">
          {error}
        </p>
      )}
    </div>
  );
}

/** Words for what is wrong with an answer. */
export function useFaultText() {
  const t = useAnswerTexts();
  return (fault: Fault | null | undefined) => (fault ? t(fault.reason, { bound: fault.bound ?? "" }) : null);
}
