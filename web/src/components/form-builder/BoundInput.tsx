import { useState } from "react";
import type { FormField } from "@/api/types";
import { Field, Input } from "@/components/ui";
import { boundOf } from "./formFields";
import { useFormTexts } from "./texts";

interface BoundInputProps {
  label: string;
  value: number | null;
  type: FormField["type"];
  /** Whether the field can have the bound next to its other one. */
  fits: (bound: number | null) => boolean;
  onChange: (bound: number | null) => void;
}

/** A bound of a field; what is none is said and not kept. */
export function BoundInput({ label, value, type, fits, onChange }: BoundInputProps) {
  const t = useFormTexts();
  const [text, setText] = useState(value === null ? "" : String(value));
  const bound = boundOf(text, type);
  const wrong = bound === undefined ? (type === "number" ? "bound_number" : "bound_count") : "bounds_crossed";
  const kept = bound !== undefined && fits(bound);
  return (
    <Field label={label} error={kept ? null : t(wrong)}>
      {(control) => (
        <Input
          {...control}
          inputMode="decimal"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            const next = boundOf(event.target.value, type);
            if (next !== undefined && fits(next)) onChange(next);
          }}
        />
      )}
    </Field>
  );
}
