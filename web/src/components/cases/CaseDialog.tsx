import { useState } from "react";
import type { TestCase } from "@/api/queries/tests";
import type { FormField } from "@/api/types";
import { FileAnswer } from "@/components/files/FileAnswer";
import { Button, Callout, Dialog, Field, Input, Textarea } from "@/components/ui";
import { CaseWords } from "./CaseList";
import { Expectations } from "./Expectations";
import { expectOf, isSchema, type Kind, lacksPartner, listed } from "./expectations";
import { FormAnswer } from "./FormAnswer";
import { useCaseTexts } from "./texts";

interface CaseDialogProps {
  /** What it begins with; none for a new test. */
  test: TestCase | undefined;
  /** Fields of the flow's form, where the flow is known. */
  form?: readonly FormField[];
  /** What somebody else made of the test meanwhile, which keeping this one replaces. */
  theirs?: TestCase | undefined;
  /** What a run answered that this is made of. */
  answer?: string | undefined;
  taken: readonly string[];
  /** Conditions to choose from; all by default. */
  kinds?: readonly Kind[];
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
  taken,
  kinds,
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
  const [files, setFiles] = useState(test?.file_ids ?? []);
  const [waiting, setWaiting] = useState<readonly string[]>([]);
  const uploading = (place: string, on: boolean) =>
    setWaiting((before) => [...before.filter((one) => one !== place), ...(on ? [place] : [])]);
  const [tried, setTried] = useState(false);
  const given = name.trim();
  const nameFault = taken.includes(given) ? t("name_taken") : given === "" && tried ? t("name_needed") : null;
  const wrongRow = rows.some(
    (row) => (row.kind === "json_schema" && row.text !== "" && !isSchema(row.text)) || lacksPartner(row, rows),
  );
  const keep = () => {
    setTried(true);
    if (given === "" || nameFault || wrongRow || busy || waiting.length > 0) return;
    onKeep({ name: given, text, form, file_ids: files, expect: expectOf(rows) });
  };
  const answered = (id: string, change: (value: unknown) => unknown) =>
    setForm((before) => {
      const { [id]: old, ...rest } = before;
      const value = change(old);
      return value === "" || value === undefined ? rest : { ...rest, [id]: value };
    });
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={test ? t("edit_test") : t("new_test")}
      footer={
        <>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="primary" busy={busy} disabled={waiting.length > 0} onClick={keep}>
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
          <div role="alert" ref={intoView}>
            <Callout tone="warn" title={t("changed_meanwhile")}>
              <CaseWords test={theirs} />
              <p className="mt-1">{t("changed_meanwhile_more")}</p>
            </Callout>
          </div>
        )}
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
        <Field label={t("files")} help={t("files_help")}>
          {(control) => (
            <FileAnswer
              control={control}
              ids={files}
              onBusy={(on) => uploading("", on)}
              onChange={(change) => setFiles((before) => change(before))}
            />
          )}
        </Field>
        {fields.length > 0 && (
          <fieldset className="flex flex-col gap-3">
            <legend className="mb-1 text-sm font-medium">{t("form")}</legend>
            {fields.map((field) => (
              <FormAnswer
                key={field.id}
                field={field}
                value={form[field.id]}
                onBusy={(on) => uploading(field.id, on)}
                onChange={(change) => answered(field.id, change)}
              />
            ))}
          </fieldset>
        )}
        <Expectations rows={rows} {...(kinds ? { kinds } : {})} onChange={setRows} />
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

/** Shows what has just come up, wherever the dialog was scrolled to. */
const intoView = (element: HTMLElement | null) => element?.scrollIntoView?.({ block: "nearest" });
