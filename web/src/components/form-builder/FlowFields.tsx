import { useQuery } from "@tanstack/react-query";
import { modelClassesQuery } from "@/api/queries/models";
import { Field, Input, Select, Textarea } from "@/components/ui";
import { useDraft, useDraftStore } from "@/lib/draft";
import { useFormTexts } from "./texts";

const DEFAULT = "default";

/** What holds for the flow as a whole. */
export function FlowFields() {
  const t = useFormTexts();
  const store = useDraftStore();
  const name = useDraft((state) => state.document.name);
  const description = useDraft((state) => state.document.description);
  const settings = useDraft((state) => state.document.settings);
  const editable = useDraft((state) => state.editable);
  const classes = useQuery(modelClassesQuery);
  const { setSettings, setAbout } = store.getState();
  const level = settings.input_classification;
  return (
    <fieldset disabled={!editable} className="flex flex-col gap-4">
      <Field label={t("name")} required>
        {(control) => (
          <Input
            {...control}
            value={name}
            maxLength={200}
            onChange={(event) => event.target.value !== "" && setAbout({ name: event.target.value })}
          />
        )}
      </Field>
      <Field label={t("description")}>
        {(control) => (
          <Textarea
            {...control}
            value={description}
            maxLength={10_000}
            onChange={(event) => setAbout({ description: event.target.value })}
          />
        )}
      </Field>
      <Field label={t("input_class")}>
        {(control) => (
          <Select
            {...control}
            value={level === null || level === undefined ? DEFAULT : String(level)}
            options={[
              { value: DEFAULT, label: t("input_class_default") },
              ...(classes.data?.levels ?? []).map((label, index) => ({ value: String(index), label })),
            ]}
            onChange={(next) => setSettings({ input_classification: next === DEFAULT ? null : Number(next) })}
          />
        )}
      </Field>
      <Field label={t("retention")} help={t("retention_help")}>
        {(control) => (
          <Input
            {...control}
            inputMode="numeric"
            className="max-w-32"
            value={settings.data_retention_days ?? ""}
            onChange={(event) => {
              const days = Number(event.target.value.replace(/\D/g, "").slice(0, 5));
              setSettings({ data_retention_days: days > 0 ? days : null });
            }}
          />
        )}
      </Field>
    </fieldset>
  );
}
