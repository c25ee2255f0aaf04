import type { FormField, JsonValue } from "@/api/types";
import type { ControlProps } from "@/components/fields/types";
import { FormFieldsEditor } from "./FormFieldsEditor";
import { fieldId } from "./formFields";

/** The form of an `Approval`: what the user who decides answers. */
export function ApprovalFormControl({ value, onChange, label }: ControlProps) {
  const set = (form: readonly FormField[]) =>
    onChange(form.length > 0 ? form.map((field) => compact(field)) : undefined);
  return (
    <fieldset aria-label={label}>
      <FormFieldsEditor form={fieldsOf(value)} use="approval" onChange={set} onUndo={set} />
    </fieldset>
  );
}

/** The fields of the value; a text is the question of a text field. */
export function fieldsOf(value: unknown): FormField[] {
  const fields: FormField[] = [];
  for (const item of Array.isArray(value) ? value : []) {
    const taken = fields.map((field) => field.id);
    if (typeof item === "string") fields.push({ id: fieldId(item, taken), label: item, type: "text" });
    else if (typeof item === "object" && item !== null && typeof item.id === "string") fields.push(item as FormField);
  }
  return fields;
}

/** The field as it is stored: what has its default is omitted. */
function compact(field: FormField): JsonValue {
  const { private: _, ...members } = field;
  const kept = Object.entries(members).filter(
    ([name, value]) =>
      name === "id" || !(value === null || value === undefined || value === "" || value === false || isEmpty(value)),
  );
  return Object.fromEntries(kept) as JsonValue;
}

const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0;
