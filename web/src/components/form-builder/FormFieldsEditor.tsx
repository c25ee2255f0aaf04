import { Plus } from "lucide-react";
import { useRef, useState } from "react";
import type { FormField } from "@/api/types";
import { Button, cx, toast } from "@/components/ui";
import { FormFieldRow } from "./FormFieldRow";
import { type FieldUse, fieldId, moved } from "./formFields";
import { useFormTexts } from "./texts";

interface FormFieldsEditorProps {
  form: readonly FormField[];
  /** What the form is for: it decides which types and options its fields have. */
  use: FieldUse;
  onChange: (form: FormField[]) => void;
  onUndo: (before: readonly FormField[]) => void;
}

/** Begins the key of a row that was added here: no name of a field has a space. */
const ADDED = "added ";

/** The fields of a form, in their order. */
export function FormFieldsEditor({ form, use, onChange, onUndo }: FormFieldsEditorProps) {
  const t = useFormTexts();
  const [dragged, setDragged] = useState<number | null>(null);
  const [over, setOver] = useState<number | null>(null);
  // Rows keep their focus and what is open in them while their field gets another name.
  const [rows, setRows] = useState<Record<string, string>>({});
  const count = useRef(0);
  const add = () => {
    const id = fieldId(
      t("new_field"),
      form.map((one) => one.id),
    );
    count.current += 1;
    setRows({ ...rows, [id]: `${ADDED}${count.current}` });
    onChange([...form, { id, label: "", type: "text", required: false, private: false, options: [] }]);
  };
  const change = (field: FormField, next: FormField) => {
    if (next.id !== field.id) setRows({ ...rows, [next.id]: rows[field.id] ?? field.id });
    onChange(form.map((one) => (one === field ? next : one)));
  };
  const remove = (index: number) => {
    const gone = form[index];
    onChange(form.filter((_, at) => at !== index));
    toast({
      title: t("removed", { name: gone?.label || (gone?.id ?? "") }),
      action: { label: t("undo"), onClick: () => onUndo(form) },
    });
  };
  return (
    <div className="flex flex-col gap-2">
      <ol className="flex flex-col gap-2">
        {form.map((field, index) => (
          <li
            key={rows[field.id] ?? field.id}
            onDragOver={(event) => {
              if (dragged === null) return;
              event.preventDefault();
              setOver(index);
            }}
            onDrop={(event) => {
              event.preventDefault();
              if (dragged !== null) onChange(moved(form, dragged, index));
              setDragged(null);
              setOver(null);
            }}
            className={cx("rounded-md", dragged === index && "opacity-50", over === index && "ring-2 ring-focus")}
          >
            <FormFieldRow
              field={field}
              use={use}
              index={index}
              taken={form.filter((one) => one !== field).map((one) => one.id)}
              added={rows[field.id]?.startsWith(ADDED) ?? false}
              onChange={(next) => change(field, next)}
              onRemove={() => remove(index)}
              onMove={(to) => onChange(moved(form, index, to))}
              drag={{
                onDragStart: (event) => {
                  event.dataTransfer.effectAllowed = "move";
                  setDragged(index);
                },
                onDragEnd: () => {
                  setDragged(null);
                  setOver(null);
                },
              }}
            />
          </li>
        ))}
      </ol>
      <Button size="sm" icon={<Plus />} className="self-start" onClick={add}>
        {t("add")}
      </Button>
    </div>
  );
}
