import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { localModelsQuery } from "@/api/queries/modelSetup";
import { useRights } from "@/api/rights";
import { Callout, Dialog, Skeleton } from "@/components/ui";
import { AskAnAdmin } from "./AskAnAdmin";
import { ChooseStep } from "./steps/ChooseStep";
import { DoneStep } from "./steps/DoneStep";
import { KeyStep } from "./steps/KeyStep";
import { LocalStep } from "./steps/LocalStep";
import { Progressed } from "./steps/Progressed";
import { ServerStep } from "./steps/ServerStep";
import { type Way, WayStep } from "./steps/WayStep";
import { useModelSetupTexts } from "./texts";

type Place = "way" | Way | "choose" | "done";

/**
 * From nothing to a model that answers: connect a server, a key or a local model, test it, choose the default. What is
 * saved stays when it is closed; opened again it continues at a fetch that was begun.
 */
export function SetupGuide({ onClose }: { onClose: () => void }) {
  const t = useModelSetupTexts();
  const { me, may } = useRights();
  const allowed = may("models.manage") && may("variables.manage");
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t("guide_title")}
      description={t("guide_about")}
      size="lg"
    >
      {!me ? (
        <Skeleton className="h-48" />
      ) : allowed ? (
        <Steps onClose={onClose} />
      ) : (
        <Callout tone="warn">
          <AskAnAdmin />
        </Callout>
      )}
    </Dialog>
  );
}

function Steps({ onClose }: { onClose: () => void }) {
  const local = useQuery(localModelsQuery);
  const [place, setPlace] = useState<Place | null>(null);
  const [model, setModel] = useState("");
  if (local.isPending) return <Skeleton className="h-48" />;
  const isBegun = local.data?.some(({ done, ready, fetching }) => fetching || (done > 0 && !ready));
  const at = place ?? (isBegun ? "local" : "way");
  const back = () => setPlace("way");
  const answers = (name: string) => {
    setModel(name);
    setPlace("choose");
  };
  return (
    <div className="flex flex-col gap-5">
      <Progressed at={at === "choose" || at === "done" ? at : "connect"} />
      {at === "way" && <WayStep onChoose={setPlace} />}
      {at === "server" && <ServerStep onBack={back} onConnected={answers} />}
      {at === "key" && <KeyStep onBack={back} onConnected={answers} />}
      {at === "local" && <LocalStep onBack={back} onReady={() => setPlace("done")} />}
      {at === "choose" && <ChooseStep proposed={model} onBack={back} onChosen={() => setPlace("done")} />}
      {at === "done" && <DoneStep onAnother={back} onClose={onClose} />}
    </div>
  );
}
