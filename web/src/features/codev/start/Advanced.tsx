import { ChevronRight } from "lucide-react";
import { useEffect, useRef } from "react";
import { ModelPicker } from "@/components/models/ModelPicker";
import { modelName } from "@/components/models/modelValue";
import { Button, Field, Input, Toggle } from "@/components/ui";
import type { StartFault, StartForm } from "../model/startForm";
import { useCodevTexts } from "../texts";

interface AdvancedProps {
  form: StartForm;
  faults: ReadonlySet<StartFault>;
  /** The model that is taken where none is named. */
  model: string;
  onChange: (more: Partial<StartForm>) => void;
}

const HELD: readonly StartFault[] = ["trials", "budget", "iterations", "webhook"];

/** What most sessions leave as it is. */
export function Advanced({ form, faults, model, onChange }: AdvancedProps) {
  const t = useCodevTexts();
  const wrong = HELD.some((one) => faults.has(one));
  const box = useRef<HTMLDetailsElement>(null);
  // Opened for what is wrong, and left to the person from then on: it must not close while the fault is mended.
  useEffect(() => {
    if (wrong && box.current) box.current.open = true;
  }, [wrong]);
  const figure = (name: "trials" | "budget" | "iterations", placeholder: string) => (
    <Field label={t(name)} help={t(`${name}_help`)} error={faults.has(name) ? t(`${name}_wrong`) : null}>
      {(control) => (
        <Input
          {...control}
          inputMode="numeric"
          placeholder={placeholder}
          value={form[name]}
          onChange={(event) => onChange({ [name]: event.target.value })}
        />
      )}
    </Field>
  );
  return (
    <details ref={box} className="group rounded-lg border border-line bg-surface">
      <summary className="flex cursor-default list-none items-center gap-2 rounded-lg px-4 py-2.5 font-medium hover:bg-hover">
        <ChevronRight aria-hidden className="size-4 text-faint transition-transform group-open:rotate-90" />
        {t("advanced")}
      </summary>
      <div className="flex flex-col gap-5 border-t border-line p-4">
        <Field
          label={t("model")}
          help={model ? t("model_help_as_set", { model }) : t("model_help")}
          aside={
            form.model && (
              <Button size="sm" kind="ghost" onClick={() => onChange({ model: "" })}>
                {t("model_as_set")}
              </Button>
            )
          }
        >
          {(control) => (
            <ModelPicker
              {...control}
              value={form.model}
              onChange={(value) => {
                const found = modelName(value);
                if (found) onChange({ model: `${found.provider}/${found.name}` });
              }}
            />
          )}
        </Field>
        <div className="grid gap-4 sm:grid-cols-3">
          {figure("trials", "1")}
          {figure("iterations", t("as_set"))}
          {figure("budget", t("as_set"))}
        </div>
        <Toggle
          label={t("skip_questions")}
          help={t("skip_questions_help")}
          checked={form.skipQuestions}
          onChange={(skipQuestions) => onChange({ skipQuestions })}
        />
        <Toggle
          label={t("repairs_approved")}
          help={t("repairs_approved_help")}
          checked={form.repairsApproved}
          onChange={(repairsApproved) => onChange({ repairsApproved })}
        />
        <Field label={t("webhook")} help={t("webhook_help")} error={faults.has("webhook") ? t("webhook_wrong") : null}>
          {(control) => (
            <Input
              {...control}
              inputMode="url"
              spellCheck={false}
              placeholder="https://"
              value={form.webhook}
              onChange={(event) => onChange({ webhook: event.target.value })}
            />
          )}
        </Field>
      </div>
    </details>
  );
}
