import { useQuery } from "@tanstack/react-query";
import { localModelsQuery } from "@/api/queries/modelSetup";
import { providersQuery } from "@/api/queries/providers";
import { LocalModels, NotInstalled } from "@/components/providers";
import { Button } from "@/components/ui";
import { useModelSetupTexts } from "../texts";
import { Buttons } from "./Buttons";

/** Fetch a model that runs on this machine: with its progress, to be stopped and continued. */
export function LocalStep({ onBack, onReady }: { onBack: () => void; onReady: () => void }) {
  const t = useModelSetupTexts();
  const models = useQuery(localModelsQuery);
  const provider = useQuery(providersQuery).data?.find(({ id }) => id === "local");
  const isReady = models.data?.some(({ ready, use }) => ready && use === "chat") === true;
  return (
    <>
      {provider && !provider.installed && <NotInstalled provider={provider} />}
      <LocalModels label={t("way_local")} use="chat" />
      <p className="text-muted text-sm">{t("local_stays")}</p>
      <Buttons onBack={onBack}>
        <Button kind="primary" disabled={!isReady} onClick={onReady}>
          {t("next")}
        </Button>
      </Buttons>
    </>
  );
}
