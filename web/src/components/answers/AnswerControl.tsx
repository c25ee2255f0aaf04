import type { FormField } from "@/api/types";
import { Checkbox, Input, Select, Textarea } from "@/components/ui";
import type { Given } from "./answers";
import { useAnswerTexts } from "./texts";

/** No option is called so: what a list of choices has for none. */
const NONE = "\u0000none";

interface AnswerControlProps {
  field: FormField;
  value: Given | undefined;
  onChange: (value: Given) => void;
  /** Ids that tie it to its label, help and error. */
  control: { id: string; "aria-describedby"?: string; "aria-invalid"?: true };
}
type TextProps = Omit<AnswerControlProps, "value"> & { text: string };

/** The control for the answer to a field that takes no file. */
export function AnswerControl({ value, ...rest }: AnswerControlProps) {
  const { field, control, onChange } = rest;
  const text = typeof value === "string" ? value : "";
  if (field.type === "multiselect") {
    return (
      <Choices field={field} chosen={typeof value === "object" ? value : []} control={control} onChange={onChange} />
    );
  }
  if (field.type === "checkbox") {
    return (
      <span className="flex h-8 items-center">
        <Checkbox {...control} checked={text === "true"} onChange={(checked) => onChange(String(checked))} />
      </span>
    );
  }
  return field.type === "select" ? <Choice {...rest} text={text} /> : <Written {...rest} text={text} />;
}

function Choice({ field, text, onChange, control }: TextProps) {
  const t = useAnswerTexts();
  const none = field.required ? [] : [{ value: NONE, label: t("none") }];
  return (
    <Select
      {...control}
      value={text || (field.required ? undefined : NONE)}
      placeholder={t("choose")}
      options={[...none, ...(field.options ?? []).map((one) => ({ value: one, label: one }))]}
      onChange={(next) => onChange(next === NONE ? "" : next)}
    />
  );
}

function Written({ field, text, onChange, control }: TextProps) {
  if (field.type === "number" || field.type === "date") {
    return (
      <Input
        {...control}
        {...(field.type === "date" ? { type: "date", className: "max-w-48" } : { inputMode: "decimal" as const })}
        value={text}
        onChange={(event) => onChange(event.target.value)}
      />
    );
  }
  return (
    <Textarea
      {...control}
      {...(field.type === "long_text" ? {} : { rows: 1, className: "min-h-8!" })}
      value={text}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

interface ChoicesProps extends Pick<AnswerControlProps, "field" | "control" | "onChange"> {
  chosen: readonly string[];
}

function Choices({ field, chosen, control, onChange }: ChoicesProps) {
  const options = field.options ?? [];
  const toggle = (option: string, on: boolean) =>
    onChange(options.filter((one) => (one === option ? on : chosen.includes(one))));
  return (
    <fieldset
      id={control.id}
      aria-label={field.label || field.id}
      aria-describedby={control["aria-describedby"]}
      className="flex flex-wrap gap-x-4 gap-y-1.5 py-1"
    >
      {options.map((option) => (
        // biome-ignore lint/a11y/noLabelWithoutControl: the checkbox in it is a button, which a label may name
        <label key={option} className="flex min-h-6 min-w-0 items-center gap-2 [overflow-wrap:anywhere]">
          <Checkbox aria-label={option} checked={chosen.includes(option)} onChange={(on) => toggle(option, on)} />
          {option}
        </label>
      ))}
    </fieldset>
  );
}
