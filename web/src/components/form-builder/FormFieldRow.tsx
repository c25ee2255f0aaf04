import { ChevronDown, GripVertical, X } from "lucide-react";
import { type DragEvent, type KeyboardEvent, useRef, useState } from "react";
import type { FormField } from "@/api/types";
import { ListEditor } from "@/components/fields";
import { Checkbox, cx, Field, IconButton, Input, Select } from "@/components/ui";
import { BoundInput } from "./BoundInput";
import { FIELD_TYPES, type FieldUse, fieldId, hasChoices, isBounded, isFieldId, withType } from "./formFields";
import { useFormTexts } from "./texts";

interface FormFieldRowProps {
  field: FormField;
  index: number;
  use: FieldUse;
  taken: readonly string[];
  /** It was just added: its question is written next. */
  added: boolean;
  onChange: (field: FormField) => void;
  onRemove: () => void;
  onMove: (to: number) => void;
  drag: { onDragStart: (event: DragEvent) => void; onDragEnd: () => void };
}

/** One question of the form. */
export function FormFieldRow({ field, index, use, taken, added, onChange, onRemove, onMove, drag }: FormFieldRowProps) {
  const t = useFormTexts();
  const [open, setOpen] = useState(false);
  const unnamed = useRef(false);
  const name = field.label || field.id;
  const set = (change: Partial<FormField>) => onChange({ ...field, ...change });
  const key = (event: KeyboardEvent) => {
    if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
    event.preventDefault();
    onMove(index + (event.key === "ArrowUp" ? -1 : 1));
  };
  return (
    <div className="flex flex-col gap-2">
      <div className="flex items-center gap-1">
        <button
          type="button"
          draggable
          {...drag}
          onKeyDown={key}
          aria-label={t("move", { name })}
          title={t("move", { name })}
          className="flex size-6 shrink-0 cursor-grab items-center justify-center rounded-sm text-faint hover:bg-hover"
        >
          <GripVertical aria-hidden className="size-4" />
        </button>
        <Input
          aria-label={t("label_of", { number: index + 1 })}
          placeholder={t("label")}
          value={field.label ?? ""}
          className="min-w-0 flex-1"
          autoFocus={added}
          onFocus={() => {
            unnamed.current = !field.label && isProvisional(field.id, t("new_field"));
          }}
          onBlur={() => {
            if (unnamed.current && field.label?.trim()) set({ id: fieldId(field.label, taken) });
          }}
          onChange={(event) => set({ label: event.target.value })}
        />
        <Select
          aria-label={`${t("type")}: ${name}`}
          value={field.type ?? "text"}
          className="w-28! shrink-0"
          options={FIELD_TYPES[use].map((one) => ({ value: one, label: t(`type_${one}`) }))}
          onChange={(type) => onChange(withType(field, type, t("option", { number: 1 })))}
        />
        <IconButton size="sm" label={t("more", { name })} aria-expanded={open} onClick={() => setOpen(!open)}>
          <ChevronDown className={cx("transition-transform", open && "rotate-180")} />
        </IconButton>
        <IconButton size="sm" label={t("remove", { name })} onClick={onRemove}>
          <X />
        </IconButton>
      </div>
      {hasChoices(field.type) && (
        <div className="ml-7">
          <ListEditor
            label={t("options")}
            value={field.options ?? []}
            onChange={(options) => set({ options: options.length > 0 ? options : [t("option", { number: 1 })] })}
          />
        </div>
      )}
      {open && (
        <div className="ml-7 flex flex-col gap-2">
          <IdInput field={field} use={use} taken={taken} onChange={(id) => set({ id })} />
          <Check label={t("required")} checked={field.required ?? false} onChange={(required) => set({ required })} />
          {isBounded(field.type) && <Bounds field={field} onChange={set} />}
          {use === "run" && (
            <Check
              label={t("private")}
              checked={field.private ?? false}
              onChange={(hidden) => set({ private: hidden })}
            />
          )}
        </div>
      )}
    </div>
  );
}

/** Whether a field still has the name that it was added with. */
const isProvisional = (id: string, added: string) => id.replace(/_\d+$/, "") === fieldId(added, []);

const BOUNDS = ["min", "max"] as const;

/** The least and the most that an answer has; a bound is kept once the field can have it. */
function Bounds({ field, onChange }: { field: FormField; onChange: (change: Partial<FormField>) => void }) {
  const t = useFormTexts();
  const what = field.type === "number" ? "number" : field.type === "multiselect" ? "choices" : "text";
  return (
    <div className="grid grid-cols-2 gap-2">
      {BOUNDS.map((name) => (
        <BoundInput
          key={`${name} ${field.type}`}
          label={t(`${name}_${what}`)}
          value={field[name] ?? null}
          type={field.type}
          fits={(bound) => !crossed({ ...field, [name]: bound })}
          onChange={(bound) => onChange({ [name]: bound })}
        />
      ))}
    </div>
  );
}

const crossed = ({ min, max }: FormField) => typeof min === "number" && typeof max === "number" && min > max;

/** A name is kept once it is one: half of it would be refused by the server. */
function IdInput({
  field,
  use,
  taken,
  onChange,
}: {
  field: FormField;
  use: FieldUse;
  taken: readonly string[];
  onChange: (id: string) => void;
}) {
  const t = useFormTexts();
  const [text, setText] = useState(field.id);
  const error = !isFieldId(text) ? t("id_wrong") : taken.includes(text) ? t("id_taken") : null;
  return (
    <Field
      label={t("id")}
      help={use === "run" ? t("id_help", { ref: `{{flow_input.${field.id}}}` }) : t("id_help_approval")}
      error={error}
    >
      {(control) => (
        <Input
          {...control}
          value={text}
          spellCheck={false}
          onChange={(event) => setText(event.target.value)}
          onBlur={() => (error ? setText(field.id) : text !== field.id && onChange(text))}
        />
      )}
    </Field>
  );
}

function Check(props: { label: string; checked: boolean; onChange: (checked: boolean) => void }) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the checkbox in it is a button, which a label may name
    <label className="flex items-start gap-2 text-sm">
      <span className="flex h-5 items-center">
        <Checkbox aria-label={props.label} checked={props.checked} onChange={props.onChange} />
      </span>
      {props.label}
    </label>
  );
}
