import { Plus, X } from "lucide-react";
import { useState } from "react";
import { Button, IconButton, Input } from "@/components/ui";
import { useFieldTexts } from "./texts";

interface ListEditorProps {
  label: string;
  value: string[];
  onChange: (value: string[]) => void;
  /** What the entries may be, offered while writing. */
  suggestions?: string[];
}

/** A list of short texts, one a line; lines that are pasted become entries. */
export function ListEditor({ label, value, onChange, suggestions }: ListEditorProps) {
  const t = useFieldTexts();
  const [added, setAdded] = useState<number | null>(null);
  const shown = value.length > 0 ? value : [""];
  const put = (index: number, text: string) => {
    const lines = text.split(/\r?\n/);
    onChange([...value.slice(0, index), ...lines, ...value.slice(index + 1)]);
  };
  const add = (at: number) => {
    setAdded(at);
    onChange([...shown.slice(0, at), "", ...shown.slice(at)]);
  };
  const known = suggestions && `${label}-known`;
  return (
    <fieldset aria-label={label} className="flex flex-col gap-1">
      {shown.map((entry, index) => (
        <div key={index} className="flex items-center gap-1">
          <Input
            aria-label={t("entry", { number: index + 1 })}
            value={entry}
            list={known}
            ref={(input) => {
              if (!input || index !== added) return;
              input.focus();
              setAdded(null);
            }}
            onKeyDown={(event) => {
              if (event.key !== "Enter" || event.nativeEvent.isComposing) return;
              event.preventDefault();
              add(index + 1);
            }}
            onChange={(event) => put(index, event.target.value)}
            onPaste={(event) => {
              const text = event.clipboardData.getData("text").trim();
              if (!/[\r\n]/.test(text)) return;
              event.preventDefault();
              put(index, text);
            }}
          />
          <IconButton
            size="sm"
            label={t("remove")}
            disabled={value.length === 0}
            onClick={() => onChange(value.filter((_, at) => at !== index))}
          >
            <X />
          </IconButton>
        </div>
      ))}
      {known && (
        <datalist id={known}>
          {suggestions.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
      <Button size="sm" kind="ghost" icon={<Plus />} className="self-start" onClick={() => add(shown.length)}>
        {t("add_entry")}
      </Button>
    </fieldset>
  );
}
