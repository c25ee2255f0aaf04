import { useState } from "react";
import type { JsonValue } from "@/api/types";
import { CodeEditor, type Diagnostic } from "@/components/code";
import { SchemaEditor } from "@/components/contract/SchemaEditor";
import { Segments } from "@/components/ui";
import { isSecretReference } from "@/lib/secretReference";
import { isSchema, type Schema } from "@/lib/wiring";
import { readJson, type SchemaFault, schemaFaults } from "./jsonFaults";
import { ListEditor } from "./ListEditor";
import { PairsEditor } from "./PairsEditor";
import { SchemaForm, simpleMembers } from "./SchemaForm";
import { VariableTextBox } from "./TextBox";
import { useFieldTexts } from "./texts";
import type { ControlProps } from "./types";

type Shape = "list" | "pairs" | "schema" | "form" | null;

/** JSON without JSON where its shape allows it: a list, names and values, a form, a schema as fields. */
export function JsonControl(props: ControlProps) {
  const t = useFieldTexts();
  const { field, value } = props;
  const shape = shapeOf(props);
  const fits = shape !== null && fitsShape(value ?? field.default ?? undefined, shape, field.secret_values === true);
  const [asJson, setAsJson] = useState(false);
  const mode = fits && !asJson ? "form" : "json";
  return (
    <div className="flex flex-col gap-1.5">
      {shape && shape !== "schema" && fits && (
        <div className="self-end">
          <Segments
            aria-label={props.label}
            size="sm"
            value={mode}
            options={[
              { value: "form", label: t("as_form") },
              { value: "json", label: t("as_json") },
            ]}
            onChange={(next) => setAsJson(next === "json")}
          />
        </div>
      )}
      {mode === "form" && shape ? <Shaped {...props} shape={shape} /> : <JsonText {...props} />}
    </div>
  );
}

function shapeOf({ field }: ControlProps): Shape {
  const schema = field.schema_;
  if (field.name === "schema" && schema?.type === "object" && !schema.properties) return "schema";
  if (isSchema(schema) && schema.type === "array")
    return isSchema(schema.items) && schema.items.type === "string" ? "list" : null;
  if (isSchema(schema) && simpleMembers(schema)) return "form";
  return !schema && isSchema(field.default) && Object.keys(field.default).length === 0 ? "pairs" : null;
}

function fitsShape(value: JsonValue | undefined, shape: Shape, secrets: boolean): boolean {
  if (value === undefined || value === null || value === "") return true;
  if (shape === "list") return Array.isArray(value) && value.every((one) => typeof one === "string");
  if (!isSchema(value)) return false;
  if (shape !== "pairs") return true;
  return Object.values(value).every(
    (one) => typeof one !== "object" || one === null || (secrets && isSecretReference(one)),
  );
}

function Shaped({ field, value, onChange, nodeId, label, shape }: ControlProps & { shape: Shape }) {
  const t = useFieldTexts();
  const now = value ?? field.default;
  const object = isSchema(now) ? now : {};
  if (shape === "list") {
    const list = Array.isArray(now) ? now.map(String) : [];
    return <ListEditor label={label} value={list} onChange={(next) => onChange(next.length > 0 ? next : undefined)} />;
  }
  if (shape === "pairs") {
    const pairs = Object.fromEntries(
      Object.entries(object).map(([name, one]) => [name, isSecretReference(one) ? one : String(one ?? "")]),
    );
    return (
      <PairsEditor
        label={label}
        value={pairs}
        {...(nodeId && field.interpolate !== false ? { nodeId } : {})}
        {...(field.secret_values ? { secrets: true, hint: t("secret_hint") } : {})}
        onChange={(next) => onChange(Object.keys(next).length > 0 ? (next as JsonValue) : undefined)}
      />
    );
  }
  if (shape === "schema") {
    return <SchemaEditor label={label} schema={object} onChange={(next) => onChange(next as JsonValue)} />;
  }
  return (
    <SchemaForm label={label} schema={field.schema_ as Schema} value={object} onChange={onChange} nodeId={nodeId} />
  );
}

/** A text that is read as JSON while it is typed; only what is JSON is kept. */
function JsonText({ field, value, onChange, nodeId, label, ...ids }: ControlProps) {
  const t = useFieldTexts();
  const written =
    typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value, null, 2);
  const [text, setText] = useState(written);
  const [known, setKnown] = useState(written);
  if (written !== known) {
    setKnown(written);
    setText(written);
  }
  const put = (next: string) => {
    setText(next);
    if (next.trim() === "") return onChange(undefined);
    const read = readJson(next);
    if (!read.ok) return;
    setKnown(JSON.stringify(read.value, null, 2));
    onChange(read.value);
  };
  if (nodeId && /\{\{/.test(text)) {
    const keep = (next: string) => onChange(next === "" ? undefined : textOrJson(next));
    return <VariableTextBox {...ids} nodeId={nodeId} label={label} multiline mono value={text} onChange={keep} />;
  }
  const problems = problemsOf(text, field.schema_ ?? null, t);
  return (
    <div className="flex flex-col gap-1">
      <CodeEditor
        language="json"
        label={label}
        value={text}
        onChange={put}
        minLines={3}
        maxLines={16}
        diagnostics={problems}
      />
      {problems.map((one) => (
        <p key={one.message} className="text-warn text-xs">
          {one.message}
        </p>
      ))}
    </div>
  );
}

/** JSON that holds references stays a text until it is JSON. */
function textOrJson(text: string): JsonValue {
  const read = readJson(text);
  return read.ok ? read.value : text;
}

function problemsOf(text: string, schema: Schema | null, t: ReturnType<typeof useFieldTexts>): Diagnostic[] {
  if (text.trim() === "") return [];
  const read = readJson(text);
  if (!read.ok) return [{ line: read.line, message: t("json_line", { line: read.line }) }];
  const faults = schema ? schemaFaults(read.value, schema) : [];
  return faults.map((one) => ({ line: 1, severity: "warning" as const, message: said(one, t) }));
}

function said(fault: SchemaFault, t: ReturnType<typeof useFieldTexts>): string {
  const path = fault.path || t("json_whole");
  if (fault.kind === "missing") return t("json_missing", { path });
  if (fault.kind === "choice") return t("json_choice", { path, choices: fault.choices.join(", ") });
  return t("json_must", { path, type: fault.wanted.join(" / ") });
}
