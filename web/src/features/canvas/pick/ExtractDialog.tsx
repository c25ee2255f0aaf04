import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { ApiError } from "@/api/problem";
import { flowKeys } from "@/api/queries/flows";
import { Button, Dialog, Field, Input, Toggle } from "@/components/ui";
import { extractSteps } from "../actions/composing";
import { useStage } from "../model/stage";
import { useView } from "../model/view";

const FORM = "extract-form";

/** Asks for the name of the flow that the selected steps become. */
export function ExtractDialog() {
  const ids = useView((state) => state.extracting);
  return ids ? <Asked ids={ids} /> : null;
}

function Asked({ ids }: { ids: string[] }) {
  const stage = useStage();
  const t = stage.t;
  const queries = useQueryClient();
  const [name, setName] = useState("");
  const [publish, setPublish] = useState(true);
  const close = () => useView.getState().set({ extracting: null });
  const extract = useMutation({
    mutationFn: () => extractSteps(stage, ids, name.trim(), publish),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: flowKeys.lists });
      close();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() && !extract.isPending) extract.mutate();
  };
  const problem = extract.error instanceof ApiError ? extract.error : null;
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && close()}
      title={t("extract")}
      size="sm"
      footer={
        <>
          <Button onClick={close}>{t("cancel")}</Button>
          <Button kind="primary" type="submit" form={FORM} busy={extract.isPending} disabled={!name.trim()}>
            {t("extract_do")}
          </Button>
        </>
      }
    >
      <form id={FORM} onSubmit={submit} className="flex flex-col gap-4">
        <p className="text-sm text-muted">{t("extract_about", { count: ids.length })}</p>
        <Field label={t("extract_name")}>
          {(control) => (
            <Input
              {...control}
              autoFocus
              maxLength={200}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        <Toggle label={t("extract_publish")} help={t("extract_publish_help")} checked={publish} onChange={setPublish} />
        {extract.error && (
          <p role="alert" className="text-sm text-bad">
            {problem ? [problem.problem.detail, problem.remedy].filter(Boolean).join(" ") : String(extract.error)}
          </p>
        )}
      </form>
    </Dialog>
  );
}
