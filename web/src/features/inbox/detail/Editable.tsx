import { Pencil, Undo2 } from "lucide-react";
import type { ReactNode } from "react";
import { DiffView } from "@/components/diff/DiffView";
import { Button, Input, Switch, Textarea } from "@/components/ui";
import { isFaulty, textOf } from "../model/edits";
import { useInboxTexts } from "../texts";

interface EditableProps {
  /** Name of the member; empty for a text as a whole. */
  name: string;
  value: unknown;
  /** The changed text; undefined where the member is not being edited. */
  edited: string | undefined;
  onChange: (text: string | undefined) => void;
  children: ReactNode;
}

/** A value that may be changed before approval, with what the change is. */
export function Editable({ name, value, edited, onChange, children }: EditableProps) {
  const t = useInboxTexts();
  const before = textOf(value);
  if (edited === undefined) {
    return (
      <div className="flex items-start gap-3">
        <div className="min-w-0 flex-1">{children}</div>
        <Button
          size="sm"
          icon={<Pencil />}
          aria-label={name ? t("edit_member", { name }) : t("edit")}
          onClick={() => onChange(before)}
        >
          {t("edit")}
        </Button>
      </div>
    );
  }
  const faulty = isFaulty(value, edited);
  return (
    <div className="flex flex-col gap-2">
      <Control label={name || t("value")} value={value} edited={edited} faulty={faulty} onChange={onChange} />
      {faulty && (
        <p role="alert" className="text-xs text-bad">
          {t("must_be_number")}
        </p>
      )}
      {edited !== before && (
        <DiffView label={name ? t("change_of", { name }) : t("change")} before={before} after={edited} />
      )}
      <Button
        size="sm"
        kind="ghost"
        className="self-start"
        icon={<Undo2 />}
        aria-label={name ? t("undo_edit_member", { name }) : t("undo_edit")}
        onClick={() => onChange(undefined)}
      >
        {t("undo_edit")}
      </Button>
    </div>
  );
}

interface ControlProps {
  label: string;
  value: unknown;
  edited: string;
  faulty: boolean;
  onChange: (text: string) => void;
}

function Control({ label, value, edited, faulty, onChange }: ControlProps) {
  if (typeof value === "boolean") {
    return <Switch aria-label={label} checked={edited === "true"} onChange={(checked) => onChange(String(checked))} />;
  }
  if (typeof value === "number") {
    return (
      <Input
        aria-label={label}
        inputMode="decimal"
        aria-invalid={faulty || undefined}
        value={edited}
        onChange={(event) => onChange(event.target.value)}
      />
    );
  }
  return <Textarea aria-label={label} autoFocus value={edited} onChange={(event) => onChange(event.target.value)} />;
}
