import { useState } from "react";
import type { TestCase } from "@/api/queries/codev";
import { Button, Dialog, Field, Input, Textarea } from "@/components/ui";
import { type CaseForm, fromForm, toForm } from "../model/cases";
import { useCodevTexts } from "../texts";

interface CaseDialogProps {
  /** None: a new one. */
  test: TestCase | null;
  /** Names of the others. */
  taken: string[];
  onKeep: (test: TestCase) => void;
  onClose: () => void;
}

/** One test case: what goes in, and what the answer has to be like. */
export function CaseDialog({ test, taken, onKeep, onClose }: CaseDialogProps) {
  const t = useCodevTexts();
  const [form, setForm] = useState(() => toForm(test));
  const set = (more: Partial<CaseForm>) => setForm((before) => ({ ...before, ...more }));
  const name = form.name.trim();
  const wrong = !name ? t("case_name_missing") : taken.includes(name) ? t("case_name_taken") : null;
  const [tried, setTried] = useState(false);
  const keep = () => {
    setTried(true);
    if (!wrong) onKeep(fromForm(form, test));
  };
  const area = (key: "text" | "contains" | "excludes" | "equals", help?: string) => (
    <Field label={t(`case_${key}`)} {...(help ? { help } : {})}>
      {(control) => (
        <Textarea {...control} rows={2} value={form[key]} onChange={(event) => set({ [key]: event.target.value })} />
      )}
    </Field>
  );
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t(test ? "case_edit" : "add_case")}
      footer={
        <>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="primary" onClick={keep}>
            {t("case_keep")}
          </Button>
        </>
      }
    >
      <form
        className="flex flex-col gap-4"
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
        <Field label={t("case_name")} required error={tried ? wrong : null}>
          {(control) => (
            <Input
              {...control}
              maxLength={100}
              value={form.name}
              onChange={(event) => set({ name: event.target.value })}
            />
          )}
        </Field>
        {area("text")}
        <p className="text-sm text-muted">{t("case_expect_about")}</p>
        {area("contains", t("a_line_each"))}
        {area("excludes", t("a_line_each"))}
        {area("equals")}
        <Field label={t("case_matches")} help={t("case_matches_help")}>
          {(control) => (
            <Input
              {...control}
              className="font-mono text-sm"
              spellCheck={false}
              maxLength={1000}
              value={form.matches}
              onChange={(event) => set({ matches: event.target.value })}
            />
          )}
        </Field>
        {test?.expect?.json_schema && <p className="text-xs text-muted">{t("case_schema_stays")}</p>}
        <button type="submit" hidden />
      </form>
    </Dialog>
  );
}
