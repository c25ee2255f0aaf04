import { Field, Input } from "@/components/ui";

interface NumberBoxProps {
  label: string;
  /** Null: nothing is set. */
  value: number | null;
  onChange: (value: number | null) => void;
  placeholder?: string;
  help?: string;
  error?: string | null;
  least?: number;
  most: number;
  /** Whether only whole numbers are taken. */
  whole?: boolean;
  /** Whether it must not be empty. */
  required?: boolean;
}

/** A number that is taken when the field is left; anything that is none is put back. */
export function NumberBox({ label, value, onChange, placeholder, help, error, ...bounds }: NumberBoxProps) {
  const { least = 0, most, whole = false, required = false } = bounds;
  const shown = value === null ? "" : String(value);
  return (
    <Field label={label} help={help} error={error}>
      {(control) => (
        <Input
          {...control}
          key={shown}
          inputMode="decimal"
          placeholder={placeholder}
          defaultValue={shown}
          onBlur={(event) => {
            const text = event.target.value.trim().replace(",", ".");
            const next = text === "" ? null : Number(text);
            const fits =
              next === null ? !required : next >= least && next <= most && (!whole || Number.isInteger(next));
            if (!fits) event.target.value = shown;
            else if (next !== value) onChange(next);
          }}
        />
      )}
    </Field>
  );
}
