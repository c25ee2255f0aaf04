import { useState } from "react";
import { putFacts } from "@/api/queries/modelSetup";
import { modelName } from "@/components/models/modelValue";
import { MODELS_TOUCHED } from "@/components/providers";
import { Button, Dialog, Field, Input, Problem, Switch } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { useSettingsTexts } from "../texts";
import type { ModelInfo } from "./FactsPart";

/** Adds a model, or says what one is called and costs, and whether it is offered. */
export function FactsDialog({ model, onClose }: { model: ModelInfo | null; onClose: () => void }) {
  const t = useSettingsTexts();
  const [written, setWritten] = useState(model ? `${model.provider}/${model.name}` : "");
  const [label, setLabel] = useState(model?.changed ? model.label : "");
  const [description, setDescription] = useState(model?.description ?? "");
  const [prices, setPrices] = useState({ in: shown(model?.price_in), out: shown(model?.price_out) });
  const [most, setMost] = useState(shown(model?.max_concurrent));
  const [offered, setOffered] = useState(!model?.hidden);
  const named = modelName(written.trim());
  const save = useChange({
    change: async () => {
      if (!named) return;
      await putFacts(named.provider, named.name, {
        label: label.trim() || null,
        description: description.trim() || null,
        price_in: read(prices.in),
        price_out: read(prices.out),
        max_concurrent: read(most),
        hidden: !offered,
      });
    },
    touches: MODELS_TOUCHED,
  });
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={model ? t("offered_edit", { what: model.label }) : t("add_model")}
      footer={
        <>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button
            kind="primary"
            disabled={!named}
            busy={save.isPending}
            onClick={() => save.mutate(undefined, { onSuccess: onClose })}
          >
            {t("save")}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        {!model && (
          <Field label={t("add_model_name")} help={t("add_model_help")} required>
            {(control) => (
              <Input
                {...control}
                className="font-mono"
                value={written}
                placeholder="vllm/qwen3-32b"
                onChange={(event) => setWritten(event.target.value)}
              />
            )}
          </Field>
        )}
        <Field label={t("offered_label")}>
          {(control) => (
            <Input
              {...control}
              value={label}
              placeholder={model?.label ?? ""}
              onChange={(event) => setLabel(event.target.value)}
            />
          )}
        </Field>
        <Field label={t("offered_description")}>
          {(control) => (
            <Input {...control} value={description} onChange={(event) => setDescription(event.target.value)} />
          )}
        </Field>
        {(["in", "out"] as const).map((way) => (
          <Field key={way} label={t(`price_${way}`)}>
            {(control) => (
              <Input
                {...control}
                type="number"
                min={0}
                step={0.01}
                value={prices[way]}
                onChange={(event) => setPrices({ ...prices, [way]: event.target.value })}
              />
            )}
          </Field>
        ))}
        <Field label={t("max_concurrent")} help={t("max_concurrent_help")}>
          {(control) => (
            <Input
              {...control}
              type="number"
              min={1}
              step={1}
              value={most}
              placeholder={t("max_concurrent_none")}
              onChange={(event) => setMost(event.target.value)}
            />
          )}
        </Field>
        <div className="flex items-center gap-2">
          <Switch checked={offered} aria-label={t("offered_show")} onChange={setOffered} />
          <span>{t("offered_show")}</span>
        </div>
        {save.isError && <Problem error={save.error} />}
      </div>
    </Dialog>
  );
}

function shown(amount: number | null | undefined) {
  return amount === null || amount === undefined ? "" : String(amount);
}

function read(text: string) {
  return text.trim() === "" ? null : Number(text);
}
