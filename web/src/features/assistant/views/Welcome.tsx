import { useQuery } from "@tanstack/react-query";
import { Plug } from "lucide-react";
import { useState } from "react";
import { assistantConfigQuery } from "@/api/queries/assistant";
import { Button, Callout } from "@/components/ui";
import { useDraftParts } from "@/lib/draft";
import { examplesFor } from "../model/examples";
import { useAssistantTexts } from "../texts";
import { ConnectDialog } from "./ConnectDialog";
import { useAssistantStore } from "./context";

/** Nothing said yet: who answers, and a few things to say to this flow. */
export function Welcome() {
  const t = useAssistantTexts();
  const store = useAssistantStore();
  const config = useQuery(assistantConfigQuery);
  const [connecting, setConnecting] = useState(false);
  const { order, nodes } = useDraftParts(({ document }) => ({ order: document.order, nodes: document.nodes }));
  const offline = config.data?.configured === false;
  const examples = examplesFor(
    order.flatMap((id) => nodes[id] ?? []),
    offline,
  );
  return (
    <div className="flex min-h-full flex-col justify-end gap-4">
      {offline && (
        <Callout title={t("offline_title")}>
          <p className="mb-2">{t("offline_about")}</p>
          <Button size="sm" icon={<Plug />} onClick={() => setConnecting(true)}>
            {t("connect")}
          </Button>
        </Callout>
      )}
      <div>
        <h3 className="text-lg font-semibold">{t("welcome")}</h3>
        <p className="mt-0.5 text-muted">{order.length === 0 ? t("welcome_empty") : t("welcome_flow")}</p>
      </div>
      <ul className="flex flex-col gap-1.5">
        {examples.map(({ key, node }) => (
          <li key={key}>
            <button
              type="button"
              className="w-full rounded-md border border-line bg-surface px-3 py-2 text-left text-sm hover:border-line-strong hover:bg-hover"
              onClick={() => store.getState().setText(t(key, { node: node ?? "" }))}
            >
              {t(key, { node: node ?? "" })}
            </button>
          </li>
        ))}
      </ul>
      <ConnectDialog open={connecting} onOpenChange={setConnecting} />
    </div>
  );
}
