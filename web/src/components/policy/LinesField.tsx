import { useState } from "react";
import { Field, Textarea } from "@/components/ui";

interface LinesFieldProps {
  label: string;
  help: string;
  placeholder: string;
  list: string[];
  onChange: (list: string[]) => void;
}

/** A list of texts, one per line. */
export function LinesField({ label, help, placeholder, list, onChange }: LinesFieldProps) {
  const [text, setText] = useState(() => list.join("\n"));
  const shown = same(entries(text), list) ? text : list.join("\n");
  return (
    <Field label={label} help={help}>
      {(control) => (
        <Textarea
          {...control}
          className="font-mono"
          spellCheck={false}
          placeholder={placeholder}
          value={shown}
          onChange={(event) => {
            setText(event.target.value);
            onChange(entries(event.target.value));
          }}
        />
      )}
    </Field>
  );
}

/** The entries of a text, one per line. */
function entries(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

function same(one: string[], other: string[]): boolean {
  return one.length === other.length && one.every((name, index) => name === other[index]);
}
