import { useState } from "react";
import type { TestCase } from "@/api/queries/tests";
import { Button, Dialog, Field, Input, Textarea } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import { Expectations } from "./Expectations";
import { expectOf, isSchema, listed } from "./expectations";
import { useTestTexts } from "./texts";

interface CaseDialogProps {
  /** What it begins with; none for a new test. */
  test: TestCase | undefined;
  /** What a run answered that this is made of. */
  answer?: string | undefined;
  taken: string[];
  busy: boolean;
  onClose: () => void;
  onKeep: (test: TestCase) => void;
}

/** A test in fields: name, input, answers to the form, and what has to hold. */
export function CaseDialog({ test, answer, taken, busy, onClose, onKeep }: CaseDialogProps) {
  const t = useTestTexts();
  const fields = useDraft((state) => state.document.form).filter((field) => field.type !== "document");
  const [name, setName] = useState(test?.name ?? "");
  const [text, setText] = useState(test?.text ?? "");
  const [form, setForm] = useState(test?.form ?? {});
  const [rows, setRows] = useState(() => {
    const found = listed(test?.expect);
    return found.length > 0 || test ? found : [{ key: 0, kind: "contains" as const, text: "" }];
  });
  const [tried, setTried] = useState(false);
  const given = name.trim();
  const nameFault = taken.includes(given) ? t("name_taken") : given === "" && tried ? t("name_needed") : null;
  const wrongSchema = rows.some((row) => row.kind === "json_schema" && row.text !== "" && !isSchema(row.text));
  const keep = () => {
    setTried(true);
    if (given === "" || nameFault || wrongSchema) return;
    onKeep({ name: given, text, form, expect: expectOf(rows) });
  };
  const answered = (id: string, value: string) => {
    const { [id]: _gone, ...rest } = form;
    setForm(value === "" ? rest : { ...rest, [id]: value });
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={test ? t("edit_test") : t("new_test")}
      footer={
        <Button kind="primary" busy={busy} onClick={keep}>
          {t("done")}
        </Button>
      }
    >
      <form
        className="flex flex-col gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          keep();
        }}
      >
        <Field label={t("name")} required error={nameFault}>
          {(control) => (
            <Input {...control} value={name} maxLength={100} onChange={(event) => setName(event.target.value)} />
          )}
        </Field>
        <Field label={t("input")} help={t("input_help")}>
          {(control) => <Textarea {...control} value={text} onChange={(event) => setText(event.target.value)} />}
        </Field>
        {fields.length > 0 && (
          <fieldset className="flex flex-col gap-3">
            <legend className="mb-1 text-sm font-medium">{t("form")}</legend>
            {fields.map((field) => (
              <Field key={field.id} label={field.label || field.id}>
                {(control) => (
                  <Input
                    {...control}
                    value={shown(form[field.id])}
                    onChange={(event) => answered(field.id, event.target.value)}
                  />
                )}
              </Field>
            ))}
          </fieldset>
        )}
        <Expectations rows={rows} onChange={setRows} />
        {answer && (
          <div className="flex flex-col items-start gap-1.5">
            <p className="text-sm font-medium">{t("it_answered")}</p>
            <p className="max-h-40 w-full overflow-y-auto whitespace-pre-wrap break-words rounded-md bg-sunken p-2 text-sm">
              {answer}
            </p>
            <Button
              size="sm"
              onClick={() =>
                setRows([
                  ...rows.filter((row) => row.kind !== "equals"),
                  { key: Date.now(), kind: "equals", text: answer },
                ])
              }
            >
              {t("expect_this")}
            </Button>
          </div>
        )}
        <button type="submit" hidden />
      </form>
    </Dialog>
  );
}

const shown = (value: unknown) => (value === undefined || value === null ? "" : String(value));
