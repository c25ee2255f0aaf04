import { useEffect, useState } from "react";
import type { JsonValue } from "@/api/types";
import { Checkbox, Input, Select, Switch } from "@/components/ui";
import { PlainTextBox, VariableTextBox } from "./TextBox";
import { useFieldTexts } from "./texts";
import type { ControlProps } from "./types";

/** A value as one line of text: what a default or a placeholder shows. */
export function inWords(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value.replaceAll("\n", "↵");
  if (Array.isArray(value)) return value.map(inWords).join(", ");
  return typeof value === "object" ? (Object.keys(value).length > 0 ? JSON.stringify(value) : "") : String(value);
}

export function TextControl({ field, value, onChange, nodeId, label, ...ids }: ControlProps) {
  const box = {
    ...ids,
    label,
    value: typeof value === "string" ? value : inWords(value),
    placeholder: inWords(field.default),
    multiline: field.kind !== "text",
    onChange: (text: string) => onChange(text === "" && !field.default ? undefined : text),
  };
  return nodeId && field.interpolate !== false ? (
    <VariableTextBox {...box} nodeId={nodeId} />
  ) : (
    <PlainTextBox {...box} />
  );
}

/** A number as it is typed; what is no number is said and not kept. A reference may stand for one. */
export function NumberControl({ field, value, onChange, label, ...ids }: ControlProps) {
  const t = useFieldTexts();
  const shown = value === undefined || value === null ? "" : String(value);
  const [text, setText] = useState(shown);
  useEffect(() => setText((now) => (read(now, field.kind) === value ? now : shown)), [shown, value, field.kind]);
  const wrong = text.trim() !== "" && read(text, field.kind) === null;
  const { nodeId: _, ...control } = ids;
  return (
    <div className="flex flex-col gap-1">
      <Input
        {...control}
        {...(wrong ? { "aria-invalid": true } : {})}
        aria-label={ids.id ? undefined : label}
        inputMode={field.kind === "integer" ? "numeric" : "decimal"}
        value={text}
        placeholder={inWords(field.default)}
        className="max-w-48"
        onChange={(event) => {
          setText(event.target.value);
          const found = read(event.target.value, field.kind);
          if (found !== null) onChange(found);
        }}
        onBlur={() => wrong && setText(shown)}
      />
      {wrong && (
        <p role="alert" className="text-bad text-xs">
          {t(field.kind === "integer" ? "not_integer" : "not_number")}
        </p>
      )}
    </div>
  );
}

/** A number, a reference, nothing (`undefined`), or no number at all (`null`). */
function read(text: string, kind: string): number | string | undefined | null {
  const plain = text.trim().replace(",", ".");
  if (plain === "") return undefined;
  if (/^\{\{.*\}\}$/.test(plain)) return text.trim();
  const found = Number(plain);
  if (!Number.isFinite(found)) return null;
  return kind === "integer" && !Number.isInteger(found) ? null : found;
}

const TRUE = new Set(["true", "yes", "on", "1", "t", "y"]);

export function BooleanControl({ field, value, onChange, label, nodeId: _, ...ids }: ControlProps) {
  const t = useFieldTexts();
  const now = value ?? field.default;
  const on = typeof now === "string" ? TRUE.has(now.toLowerCase()) : now === true;
  return (
    <span className="flex h-8 items-center gap-2">
      <Switch {...ids} {...(ids.id ? {} : { "aria-label": label })} checked={on} onChange={onChange} />
      <span aria-hidden className="text-muted text-sm">
        {t(on ? "on" : "off")}
      </span>
    </span>
  );
}

export function SelectControl({ field, value, onChange, label, nodeId, ...ids }: ControlProps) {
  const t = useFieldTexts();
  const now = typeof value === "string" ? value : (field.default as string | undefined | null);
  if (typeof now === "string" && now.includes("{{") && nodeId) {
    return (
      <VariableTextBox
        {...ids}
        nodeId={nodeId}
        label={label}
        value={now}
        onChange={(text) => onChange(text || undefined)}
      />
    );
  }
  return (
    <Select
      {...ids}
      {...(ids.id ? {} : { "aria-label": label })}
      value={now ?? undefined}
      placeholder={t("choose")}
      options={(field.options ?? []).map((option) => ({ value: option, label: option }))}
      onChange={(next) => onChange(next === field.default ? undefined : next)}
    />
  );
}

export function MultiselectControl({ field, value, onChange, label }: ControlProps) {
  const now = Array.isArray(value) ? value : Array.isArray(field.default) ? field.default : [];
  const toggle = (option: string, on: boolean) => {
    const options = field.options ?? [];
    onChange(options.filter((one) => (one === option ? on : now.includes(one))));
  };
  return (
    <fieldset aria-label={label} className="flex flex-wrap gap-x-4 gap-y-1.5 py-1">
      {(field.options ?? []).map((option) => (
        // biome-ignore lint/a11y/noLabelWithoutControl: the checkbox in it is a button, which a label may name
        <label key={option} className="flex items-center gap-2">
          <Checkbox aria-label={option} checked={now.includes(option)} onChange={(on) => toggle(option, on)} />
          {option}
        </label>
      ))}
    </fieldset>
  );
}
