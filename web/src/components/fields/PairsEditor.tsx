import { Plus, X } from "lucide-react";
import { useState } from "react";
import { Button, IconButton, Input } from "@/components/ui";
import { PlainTextBox, VariableTextBox } from "./TextBox";
import { useFieldTexts } from "./texts";

export type Pairs = Record<string, string>;

interface PairsEditorProps {
  label: string;
  value: Pairs;
  onChange: (value: Pairs) => void;
  nodeId?: string;
  /** Said below: how secrets are named in it. */
  hint?: string;
}

/** Names and values, such as headers: rows instead of an object in JSON. */
export function PairsEditor({ label, value, onChange, nodeId, hint }: PairsEditorProps) {
  const t = useFieldTexts();
  // Rows whose name is not written yet are kept here: an object has no place for them.
  const [rows, setRows] = useState<[string, string][]>(() => Object.entries(value));
  const written = JSON.stringify(value);
  const [known, setKnown] = useState(written);
  if (written !== known) {
    setKnown(written);
    setRows(Object.entries(value));
  }
  const keep = (next: [string, string][]) => {
    const made = Object.fromEntries(next.filter(([name]) => name.trim() !== ""));
    setRows(next);
    setKnown(JSON.stringify(made));
    onChange(made);
  };
  const put = (index: number, pair: [string, string]) => keep(rows.map((row, at) => (at === index ? pair : row)));
  return (
    <fieldset aria-label={label} className="flex flex-col gap-1.5">
      {rows.map(([name, text], index) => {
        const box = {
          label: t("pair_value", { number: index + 1 }),
          value: text,
          onChange: (next: string) => put(index, [name, next]),
        };
        return (
          <div key={index} className="flex items-start gap-1">
            <Input
              aria-label={t("pair_name", { number: index + 1 })}
              placeholder={t("name")}
              value={name}
              className="max-w-[40%]"
              onChange={(event) => put(index, [event.target.value, text])}
            />
            <div className="min-w-0 flex-1">
              {nodeId ? <VariableTextBox {...box} nodeId={nodeId} /> : <PlainTextBox {...box} />}
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
