import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { ApiError } from "@/api/problem";
import { flowKeys } from "@/api/queries/flows";
import { Button, Dialog, Field, Input, Segments, Toggle } from "@/components/ui";
import { useStage } from "../model/stage";
import { type Repeat, useView } from "../model/view";
import { extractSteps } from "./extracting";
import { useExtractTexts } from "./texts";

const FORM = "extract-form";

const MOST_ROUNDS = 1000;

/** Asks for the name of the flow that the selected steps become, and how often it runs. */
export default function ExtractDialog({ ids, repeat: first }: { ids: string[]; repeat: Repeat }) {
  const stage = useStage();
  const t = useExtractTexts();
  const queries = useQueryClient();
  const [name, setName] = useState("");
  const [publish, setPublish] = useState(true);
  const [repeat, setRepeat] = useState(first);
  const [until, setUntil] = useState("");
  const [most, setMost] = useState("10");
  const rounds = /^\d{1,4}$/.test(most.trim()) ? Number(most) : 0;
  const ready =
    name.trim() !== "" && (repeat !== "until" || (until.trim() !== "" && rounds >= 1 && rounds <= MOST_ROUNDS));
  const close = () => useView.getState().set({ extracting: null });
  const extract = useMutation({
    mutationFn: () => {
      const loop = repeat === "until" ? { until: until.trim(), most: rounds } : { until: "", most: 10 };
      return extractSteps(stage, t, ids, { name: name.trim(), publish, repeat, ...loop });
    },
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: flowKeys.lists });
      close();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (ready && !extract.isPending) extract.mutate();
  };
  const problem = extract.error instanceof ApiError ? extract.error : null;
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && close()}
      title={stage.t(first === "once" ? "extract" : "repeat")}
      size="sm"
      footer={
        <>
          <Button onClick={close}>{stage.t("cancel")}</Button>
          <Button kind="primary" type="submit" form={FORM} busy={extract.isPending} disabled={!ready}>
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
        <Field label={t("extract_repeat")} help={t(`extract_repeat_${repeat}_help`)}>
          {() => (
            <Segments
              aria-label={t("extract_repeat")}
              value={repeat}
              options={(["once", "each", "until"] as const).map((value) => ({
                value,
                label: t(`extract_repeat_${value}`),
              }))}
              onChange={setRepeat}
            />
          )}
        </Field>
        {repeat === "until" && (
          <div className="grid grid-cols-[1fr_6rem] gap-3">
            <Field label={t("extract_until")} required>
              {(control) => (
                <Input
                  {...control}
                  maxLength={2000}
                  placeholder="score >= `8`"
                  value={until}
                  onChange={(event) => setUntil(event.target.value)}
                />
              )}
            </Field>
            <Field label={t("extract_most")} required>
              {(control) => (
                <Input
                  {...control}
                  inputMode="numeric"
                  value={most}
                  onChange={(event) => setMost(event.target.value)}
                />
              )}
            </Field>
          </div>
        )}
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
