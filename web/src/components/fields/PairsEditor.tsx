import { Plus, X } from "lucide-react";
import { useState } from "react";
import { Button, IconButton, Input, Segments } from "@/components/ui";
import { isSecretReference, type SecretReference, secretReference } from "@/lib/secretReference";
import { SecretSelect } from "./SecretControl";
import { PlainTextBox, VariableTextBox } from "./TextBox";
import { useFieldTexts } from "./texts";

export type PairValue = string | SecretReference;
export type Pairs = Record<string, PairValue>;

interface PairsEditorProps {
  label: string;
  value: Pairs;
  onChange: (value: Pairs) => void;
  nodeId?: string;
  /** Whether a value may be a secret instead of text. */
  secrets?: boolean;
  hint?: string;
}

/** Names and values, such as headers: rows instead of an object in JSON. */
export function PairsEditor({ label, value, onChange, nodeId, secrets, hint }: PairsEditorProps) {
  const t = useFieldTexts();
  // Rows whose name is not written yet are kept here: an object has no place for them.
  const [rows, setRows] = useState<[string, PairValue][]>(() => Object.entries(value));
  const written = JSON.stringify(value);
  const [known, setKnown] = useState(written);
  if (written !== known) {
    setKnown(written);
    setRows(Object.entries(value));
  }
  const keep = (next: [string, PairValue][]) => {
    const made = Object.fromEntries(next.filter(isComplete));
    setRows(next);
    setKnown(JSON.stringify(made));
    onChange(made);
  };
  const put = (index: number, pair: [string, PairValue]) => keep(rows.map((row, at) => (at === index ? pair : row)));
  return (
    <fieldset aria-label={label} className="flex flex-col gap-1.5">
      {rows.map(([name, value], index) => {
        const change = (next: PairValue) => put(index, [name, next]);
        return (
          <div key={index} className="flex items-start gap-1">
            <Input
              aria-label={t("pair_name", { number: index + 1 })}
              placeholder={t("name")}
              value={name}
              className="max-w-[40%]"
              onChange={(event) => put(index, [event.target.value, value])}
            />
            <div className="flex min-w-0 flex-1 flex-col gap-1">
              {secrets && <KindOfValue name={name} value={value} number={index + 1} onChange={change} />}
              {typeof value === "string" ? (
                <TextValue text={value} number={index + 1} nodeId={nodeId} onChange={change} />
              ) : (
                <SecretValue value={value} number={index + 1} onChange={change} />
              )}
            </div>
            <IconButton size="sm" label={t("remove")} onClick={() => keep(rows.filter((_, at) => at !== index))}>
              <X />
            </IconButton>
          </div>
        );
      })}
      <Button
        size="sm"
        kind="ghost"
        icon={<Plus />}
        className="self-start"
        onClick={() => setRows([...rows, ["", ""]])}
      >
        {t("add_entry")}
      </Button>
      {hint && <p className="text-muted text-xs">{hint}</p>}
    </fieldset>
  );
}

interface ValueProps<Value> {
  value: Value;
  number: number;
  onChange: (value: PairValue) => void;
}

/** Text or secret. `Authorization` begins with the scheme that most services take. */
function KindOfValue({ name, value, number, onChange }: ValueProps<PairValue> & { name: string }) {
  const t = useFieldTexts();
  const scheme = name.trim().toLowerCase() === "authorization" ? "Bearer" : "";
  return (
    <Segments
      aria-label={t("pair_kind", { number })}
      size="sm"
      value={isSecretReference(value) ? "secret" : "text"}
      options={[
        { value: "text", label: t("pair_text") },
        { value: "secret", label: t("pair_secret") },
      ]}
      onChange={(kind) => onChange(kind === "secret" ? secretReference("", scheme) : "")}
    />
  );
}

interface TextValueProps {
  text: string;
  number: number;
  nodeId: string | undefined;
  onChange: (text: string) => void;
}

function TextValue({ text, number, nodeId, onChange }: TextValueProps) {
  const t = useFieldTexts();
  const box = { label: t("pair_value", { number }), value: text, onChange };
  return nodeId ? <VariableTextBox {...box} nodeId={nodeId} /> : <PlainTextBox {...box} />;
}

function SecretValue({ value, number, onChange }: ValueProps<SecretReference>) {
  const t = useFieldTexts();
  return (
    <>
      <SecretSelect
        label={t("pair_value", { number })}
        name={value.secret}
        required
        onChange={(name) => onChange(secretReference(name, value.scheme))}
      />
      <Input
        aria-label={t("pair_scheme", { number })}
        placeholder={t("pair_scheme_hint")}
        value={value.scheme ?? ""}
        onChange={(event) => onChange(secretReference(value.secret, event.target.value))}
      />
    </>
  );
}

/** Whether a row is written far enough to be kept. */
function isComplete([name, value]: [string, PairValue]): boolean {
  return name.trim() !== "" && !(isSecretReference(value) && value.secret === "");
}
