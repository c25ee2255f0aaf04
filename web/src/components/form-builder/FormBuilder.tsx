import { Plus } from "lucide-react";
import { useState } from "react";
import { Button, cx, toast } from "@/components/ui";
import { useDraft, useDraftStore } from "@/lib/draft";
import { FormFieldRow } from "./FormFieldRow";
import { fieldId, moved } from "./formFields";
import { useFormTexts } from "./texts";

/** The form that a run starts with: its questions, in their order. */
export function FormBuilder() {
  const t = useFormTexts();
  const store = useDraftStore();
  const form = useDraft((state) => state.document.form);
  const editable = useDraft((state) => state.editable);
  const [dragged, setDragged] = useState<number | null>(null);
  const [over, setOver] = useState<number | null>(null);
  const keep = (next: typeof form) => store.getState().setForm(next);
  const add = () => {
    const id = fieldId(
      t("new_field"),
      form.map((one) => one.id),
    );
    keep([...form, { id, label: "", type: "text", required: false, private: false, options: [] }]);
  };
  const remove = (index: number) => {
    const gone = form[index];
    keep(form.filter((_, at) => at !== index));
    toast({
      title: t("removed", { name: gone?.label || (gone?.id ?? "") }),
      action: { label: t("undo"), onClick: () => store.getState().undo() },
    });
  };
  return (
    <fieldset disabled={!editable} className="flex flex-col gap-2">
      <p className="text-muted text-xs">{form.length > 0 ? t("about") : t("empty")}</p>
      <ol className="flex flex-col gap-2">
        {form.map((field, index) => (
          <li
            key={field.id}
            onDragOver={(event) => {
              if (dragged === null) return;
              event.preventDefault();
              setOver(index);
            }}
            onDrop={(event) => {
              event.preventDefault();
              if (dragged !== null) keep(moved(form, dragged, index));
              setDragged(null);
              setOver(null);
            }}
            className={cx("rounded-md", dragged === index && "opacity-50", over === index && "ring-2 ring-focus")}
          >
            <FormFieldRow
              field={field}
              index={index}
              taken={form.filter((one) => one !== field).map((one) => one.id)}
              onChange={(next) => keep(form.map((one, at) => (at === index ? next : one)))}
              onRemove={() => remove(index)}
              onMove={(to) => keep(moved(form, index, to))}
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
    </fieldset>
  );
}
