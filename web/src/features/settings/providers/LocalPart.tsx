import { useQuery } from "@tanstack/react-query";
import { HardDriveDownload } from "lucide-react";
import { fetchLocal, type LocalModel, localModelsQuery, setupKeys, stopLocal } from "@/api/queries/modelSetup";
import { useRights } from "@/api/rights";
import { Button, Callout, Chip } from "@/components/ui";
import { bytes } from "@/lib/i18n/format";
import { Listing } from "../Listing";
import { Part, Row } from "../Section";
import { useSettingsTexts } from "../texts";
import { useChange } from "../useChange";
import { MODELS_TOUCHED } from "./touched";

/** Models that run inside Headgate: those that are here, and those that can be fetched. */
export function LocalPart() {
  const t = useSettingsTexts();
  const { may } = useRights();
  const models = useQuery(localModelsQuery);
  return (
    <Part title={t("local_models")} about={t("local_models_about")}>
      <Listing label={t("local_models")} query={models} empty={null}>
        {(one) => <LocalRow key={one.name} model={one} manage={may("models.manage")} />}
      </Listing>
    </Part>
  );
}

function LocalRow({ model, manage }: { model: LocalModel; manage: boolean }) {
  const t = useSettingsTexts();
  const touches = [setupKeys.local, ...MODELS_TOUCHED];
  const start = useChange({ change: () => fetchLocal(model.name), touches, failed: t("save_failed") });
  const stop = useChange({ change: () => stopLocal(model.name), touches, failed: t("save_failed") });
  const begun = model.done > 0 && !model.ready;
  const progress = t("local_progress", { done: bytes(model.done), size: bytes(model.size) });
  return (
    <Row
      icon={<HardDriveDownload aria-hidden />}
      title={
        <>
          {model.label}
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
        manage &&
        !model.ready &&
        (model.fetching ? (
          <Button size="sm" busy={stop.isPending} onClick={() => stop.mutate()}>
            {t("local_stop")}
          </Button>
        ) : (
          <Button size="sm" busy={start.isPending} onClick={() => start.mutate()}>
            {t(begun ? "local_resume" : "local_fetch")}
          </Button>
        ))
      }
    >
      {model.fetching && (
        <div className="mt-2 flex flex-col gap-1">
          <progress
            className="h-2 w-full accent-accent"
            aria-label={t("local_fetch_what", { what: model.label })}
            value={model.done}
            max={model.size}
          />
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
