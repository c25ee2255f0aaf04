import { Trash2 } from "lucide-react";
import type { JsonValue } from "@/api/types";
import { ModelPicker } from "@/components/models/ModelPicker";
import { Button, Field, toast } from "@/components/ui";
import { useDraft, useDraftParts, useDraftStore } from "@/lib/draft";
import { useInspectorTexts } from "./texts";

/** Several nodes: what can be done with all of them at once. */
export function ManyPanel({ ids }: { ids: string[] }) {
  const t = useInspectorTexts();
  const store = useDraftStore();
  const editable = useDraft((state) => state.editable);
  const names = useDraftParts(({ document, templates }) =>
    ids.map((id) => document.nodes[id]?.label || templates[document.nodes[id]?.type ?? ""]?.label || id),
  );
  const asking = useDraftParts(({ document, templates }) =>
    ids.filter((id) => templates[document.nodes[id]?.type ?? ""]?.fields?.some((one) => one.kind === "model")),
  );
  const model = useDraft(({ document }) => {
    const [first, ...others] = asking.map((id) => document.nodes[id]?.params?.model);
    return others.every((one) => one === first) ? first : undefined;
  });
  const remove = () => {
    store.getState().removeNodes(ids);
    toast({
      title: t("removed", { count: ids.length }),
      action: { label: t("undo"), onClick: () => store.getState().undo() },
    });
  };
  const setModel = (value: JsonValue) =>
    store.getState().change({ label: "Set model" }, (draft) => {
      for (const id of asking) {
        const node = draft.nodes[id];
        if (node) node.params = { ...node.params, model: value };
      }
    });
  return (
    <>
      <header className="flex h-11 items-center border-line border-b pr-11 pl-4">
        <h2 className="font-semibold">{t("selected", { count: ids.length })}</h2>
      </header>
      <fieldset disabled={!editable} className="flex flex-col gap-4 overflow-auto p-4">
        <p className="text-muted text-sm">{t("many_about")}</p>
        <ul className="flex flex-col">
          {names.map((name, index) => (
            <li key={ids[index]}>
              <button
                type="button"
                className="w-full truncate rounded-md px-2 py-1 text-left hover:bg-hover"
                onClick={() => store.getState().select([ids[index] ?? ""])}
              >
                {name}
              </button>
            </li>
          ))}
        </ul>
        {asking.length > 1 && (
          <Field label={t("same_model")}>
            {(control) => <ModelPicker {...control} value={model} onChange={setModel} />}
          </Field>
        )}
        <Button kind="danger" icon={<Trash2 />} className="self-start" onClick={remove}>
          {t("remove_all")}
        </Button>
      </fieldset>
    </>
  );
}
