import { useQuery } from "@tanstack/react-query";
import { HardDriveDownload } from "lucide-react";
import { fetchLocal, type LocalModel, localModelsQuery, setupKeys, stopLocal } from "@/api/queries/modelSetup";
import { useRights } from "@/api/rights";
import { Button, Callout, Chip, Listing, Progress, Row } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { bytes } from "@/lib/i18n/format";
import { useProviderTexts } from "./texts";
import { MODELS_TOUCHED } from "./touched";

interface LocalModelsProps {
  label: string;
  /** Only models for this; default: all. */
  use?: LocalModel["use"];
  /** Called with `local/NAME` of a model that is here. */
  onUse?: (model: string) => void;
}

/** Models that run inside Headgate: those that are here, and those that can be fetched. */
export function LocalModels({ label, use, onUse }: LocalModelsProps) {
  const { may } = useRights();
  const models = useQuery({
    ...localModelsQuery,
    select: (all) => all.filter((one) => use === undefined || one.use === use),
  });
  return (
    <Listing label={label} query={models} empty={null}>
      {(one) => <LocalRow key={one.name} model={one} manage={may("models.manage")} onUse={onUse} />}
    </Listing>
  );
}

interface LocalRowProps {
  model: LocalModel;
  manage: boolean;
  onUse: LocalModelsProps["onUse"];
}

function LocalRow({ model, manage, onUse }: LocalRowProps) {
  const t = useProviderTexts();
  const begun = model.done > 0 && !model.ready;
  const progress = t("local_progress", { done: bytes(model.done), size: bytes(model.size) });
  return (
    <Row
      icon={<HardDriveDownload aria-hidden />}
      title={
        <>
          {model.label}
          {model.use === "embedding" && <Chip>{t("local_embeds")}</Chip>}
          {model.use === "rerank" && <Chip>{t("local_reranks")}</Chip>}
          {model.ready && <Chip tone="ok">{t("ready")}</Chip>}
        </>
      }
      detail={
        <>
          <span className="font-mono text-xs">local/{model.name}</span> · {begun ? progress : bytes(model.size)}
          {model.licence && ` · ${model.licence}`}
        </>
      }
      aside={
        model.ready
          ? onUse && (
              <Button size="sm" onClick={() => onUse(`local/${model.name}`)}>
                {t("local_use")}
              </Button>
            )
          : manage && <Download model={model} />
      }
    >
      {model.fetching && (
        <div className="mt-2 flex flex-col gap-1">
          <Progress label={t("local_fetch_what", { what: model.label })} value={model.done / model.size} />
          <p className="text-muted text-sm">{model.detail}</p>
        </div>
      )}
      {model.failed && (
        <div className="mt-2">
          <Callout tone="bad" title={model.detail}>
            {model.remedy}
          </Callout>
        </div>
      )}
    </Row>
  );
}

/** Starts, stops or resumes a download. */
function Download({ model }: { model: LocalModel }) {
  const t = useProviderTexts();
  const touches = [setupKeys.local, ...MODELS_TOUCHED];
  const start = useChange({ change: () => fetchLocal(model.name), touches, failed: t("fetch_failed") });
  const stop = useChange({ change: () => stopLocal(model.name), touches, failed: t("fetch_failed") });
  return model.fetching ? (
    <Button size="sm" busy={stop.isPending} onClick={() => stop.mutate()}>
      {t("local_stop")}
    </Button>
  ) : (
    <Button size="sm" busy={start.isPending} onClick={() => start.mutate()}>
      {t(model.done > 0 ? "local_resume" : "local_fetch")}
    </Button>
  );
}
