import { useState } from "react";
import type { TestCase } from "@/api/queries/tests";
import type { FormField } from "@/api/types";
import { Button, Callout, Dialog, Field, Input, Select, Textarea } from "@/components/ui";
import { CaseWords } from "./CaseList";
import { Expectations } from "./Expectations";
import { expectOf, isSchema, listed } from "./expectations";
import { useCaseTexts } from "./texts";

/** Kinds of fields that a test answers in words; one that takes a file has none. */
const IN_WORDS: ReadonlySet<string> = new Set(["text", "number", "select"]);

interface CaseDialogProps {
  /** What it begins with; none for a new test. */
  test: TestCase | undefined;
  /** Fields of the flow's form, where the flow is known. */
  form?: readonly FormField[];
  /** What somebody else made of the test meanwhile, which keeping this one replaces. */
  theirs?: TestCase | undefined;
  /** What a run answered that this is made of. */
  answer?: string | undefined;
  /** How many files that run had beside its text; a test takes none. */
  filesLeft?: number | undefined;
  taken: readonly string[];
  busy?: boolean;
  onClose: () => void;
  onKeep: (test: TestCase) => void;
}

/** A test in fields: name, input, answers to the form, and what has to hold. */
export function CaseDialog({
  test,
  theirs,
  form: fields = [],
  answer,
  filesLeft = 0,
  taken,
  busy = false,
  onClose,
  onKeep,
}: CaseDialogProps) {
  const t = useCaseTexts();
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
    if (given === "" || nameFault || wrongSchema || busy) return;
    onKeep({ name: given, text, form, expect: expectOf(rows) });
  };
  const answered = (id: string, value: string) => {
    const { [id]: _gone, ...rest } = form;
    setForm(value === "" ? rest : { ...rest, [id]: value });
  };
  const inWords = fields.filter((field) => IN_WORDS.has(field.type ?? "text"));
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={test ? t("edit_test") : t("new_test")}
      footer={
        <>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="primary" busy={busy} onClick={keep}>
            {t("done")}
          </Button>
        </>
      }
    >
      <form
        className="flex flex-col gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          event.stopPropagation();
          keep();
        }}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          event.stopPropagation();
          keep();
        }}
      >
        {theirs && (
          <Callout tone="warn" title={t("changed_meanwhile")}>
            <CaseWords test={theirs} />
            <p className="mt-1">{t("changed_meanwhile_more")}</p>
          </Callout>
        )}
        {filesLeft > 0 && <Callout>{t("files_left", { count: filesLeft })}</Callout>}
        <Field label={t("name")} required error={nameFault}>
          {(control) => (
            <Input {...control} value={name} maxLength={100} onChange={(event) => setName(event.target.value)} />
          )}
        </Field>
        <Field label={t("input")} help={t("input_help")}>
          {(control) => (
            <Textarea {...control} value={text} maxLength={100_000} onChange={(event) => setText(event.target.value)} />
          )}
        </Field>
        {inWords.length > 0 && (
          <fieldset className="flex flex-col gap-3">
            <legend className="mb-1 text-sm font-medium">{t("form")}</legend>
            {inWords.map((field) => (
              <FormAnswer
                key={field.id}
                field={field}
                value={shown(form[field.id])}
                onChange={(value) => answered(field.id, value)}
              />
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

interface FormAnswerProps {
  field: FormField;
  value: string;
  onChange: (value: string) => void;
}

/** The answer to a field of the form, as somebody gives it who runs the flow. */
function FormAnswer({ field, value, onChange }: FormAnswerProps) {
  const t = useCaseTexts();
  return (
    <Field label={field.label || field.id}>
      {(control) =>
        field.type === "select" ? (
          <Select
            {...control}
            value={value || NONE}
            options={[
              { value: NONE, label: t("choose") },
              ...(field.options ?? []).map((one) => ({ value: one, label: one })),
            ]}
            onChange={(next) => onChange(next === NONE ? "" : next)}
          />
        ) : (
          <Input
            {...control}
            {...(field.type === "number" ? { inputMode: "decimal" as const } : {})}
            value={value}
            onChange={(event) => onChange(event.target.value)}
          />
        )
      }
    </Field>
  );
}

/** No option is called so: what a list of choices has for none. */
const NONE = "\u0000none";
