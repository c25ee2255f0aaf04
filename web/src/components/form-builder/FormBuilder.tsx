import { useDraft, useDraftStore } from "@/lib/draft";
import { FormFieldsEditor } from "./FormFieldsEditor";
import { useFormTexts } from "./texts";

/** The form that a run starts with: its questions, in their order. */
export function FormBuilder() {
  const t = useFormTexts();
  const store = useDraftStore();
  const form = useDraft((state) => state.document.form);
  const editable = useDraft((state) => state.editable);
  return (
    <fieldset disabled={!editable} className="flex flex-col gap-2">
      <p className="text-muted text-xs">{form.length > 0 ? t("about") : t("empty")}</p>
      <FormFieldsEditor
        form={form}
        use="run"
        onChange={(next) => store.getState().setForm(next)}
        onUndo={() => store.getState().undo()}
      />
    </fieldset>
  );
}
