import { useParams } from "@tanstack/react-router";
import { Play, Sparkles } from "lucide-react";
import { Button, Tip } from "@/components/ui";
import { SaveState } from "@/features/editing";
import { usePanels } from "@/lib/panels";
import { keysOf, useShortcutKeys } from "@/lib/shortcuts/shortcuts";
import { useAppTexts } from "../texts";
import { FlowMenu } from "./header/FlowMenu";
import { FlowName } from "./header/FlowName";
import { HistoryButtons } from "./header/HistoryButtons";
import { Views } from "./header/Views";

/** The flow's name, whether it is saved, its views, and what is done most. On a narrow screen the views stand below. */
export function FlowHeader() {
  const t = useAppTexts();
  const { flowId } = useParams({ from: "/inside/flows/$flowId" });
  const { toggle } = usePanels.getState();
  const { assistant, run } = usePanels((state) => state.open);
  const changed = useShortcutKeys((state) => state.changed);
  return (
    <header className="@container shrink-0 border-b border-line bg-surface">
      <div className="flex flex-wrap items-center gap-x-1 gap-y-1 px-2 py-1.5 sm:px-3 @4xl:min-h-12 @4xl:flex-nowrap">
        <div className="flex min-w-0 flex-1 items-center gap-1">
          <FlowName />
          <SaveState />
        </div>
        <Views flowId={flowId} />
        <div className="flex flex-1 shrink-0 items-center justify-end gap-1 @4xl:flex-1">
          <HistoryButtons />
          <FlowMenu flowId={flowId} />
          <Tip text={t("assistant")} keys={keysOf("assistant", changed)}>
            <Button
              icon={<Sparkles />}
              aria-label={t("assistant")}
              aria-pressed={assistant}
              onClick={() => toggle("assistant")}
              className="ml-1 max-sm:px-2"
            >
              <span className="hidden @2xl:inline">{t("assistant")}</span>
            </Button>
          </Tip>
          <Tip text={t("run_this")} keys={keysOf("run", changed)}>
            <Button
              kind="primary"
              icon={<Play />}
              aria-label={t("run")}
              aria-pressed={run}
              onClick={() => toggle("run")}
              className="max-sm:px-2"
            >
              <span className="hidden @2xl:inline">{t("run")}</span>
            </Button>
          </Tip>
        </div>
      </div>
    </header>
  );
}
