import { useParams } from "@tanstack/react-router";
import { ClipboardList, Play, Sparkles } from "lucide-react";
import { useCommentCounts } from "@/components/comments/useCommentCounts";
import { Button, IconButton, Tip } from "@/components/ui";
import { SaveState } from "@/features/editing";
import { useCommands } from "@/lib/commands/commands";
import { useDraft, useDraftStore } from "@/lib/draft";
import { useNarrow } from "@/lib/narrow";
import { type Panel, usePanels } from "@/lib/panels";
import { useRequests } from "@/lib/requests";
import { keysOf, useShortcutKeys } from "@/lib/shortcuts/shortcuts";
import { useAppTexts } from "../texts";
import { Caller } from "./header/Caller";
import { FlowMenu } from "./header/FlowMenu";
import { FlowName } from "./header/FlowName";
import { HistoryButtons } from "./header/HistoryButtons";
import { PresentUsers } from "./header/PresentUsers";
import { useCanvasCommandsElsewhere, useViewCommands, Views } from "./header/Views";
import { useColumn, useFlowPlace, useFlowRights } from "./place";

/** The flow's name, whether it is saved, its views, and what is done most. On a narrow screen the views stand below. */
export function FlowHeader() {
  const t = useAppTexts();
  const { flowId } = useParams({ from: "/inside/flows/$flowId" });
  const store = useDraftStore();
  const place = useFlowPlace();
  const shown = useColumn(place).at(-1);
  const narrow = useNarrow();
  const { asks, runs } = useFlowRights();
  const floating = usePanels((state) => state.open.assistant && !state.docked) && !narrow;
  const chosen = useDraft((state) => state.selectedNodes.length > 0);
  const assistant = floating || shown === "assistant";
  const form = shown === "inspector" && !chosen;
  const put = (panel: Panel, there: boolean) => usePanels.getState().setOpen(panel, there);
  const run = () => {
    put("run", true);
    useRequests.getState().requestRun(shown === "run" ? "flow" : "ready");
  };
  const showForm = () => {
    store.getState().clearSelection();
    put("flow", !form);
  };
  useCommands("flow.form", () =>
    place === "canvas"
      ? [{ id: "flow.form", group: t("this_flow"), label: t("form_more"), icon: <ClipboardList />, run: showForm }]
      : [],
  );
  useViewCommands(flowId);
  useCommentCounts();
  useCanvasCommandsElsewhere(flowId);
  const changed = useShortcutKeys((state) => state.changed);
  return (
    <header className="@container shrink-0 border-b border-line bg-surface">
      <div className="flex flex-wrap items-center gap-x-1 gap-y-1 px-2 py-1.5 sm:px-3 @4xl:min-h-12 @4xl:flex-nowrap">
        <div className="flex min-w-0 flex-1 items-center gap-1">
          <Caller />
          <FlowName />
          <SaveState />
        </div>
        <Views flowId={flowId} />
        <div className="flex flex-1 shrink-0 items-center justify-end gap-1 @4xl:flex-1">
          <PresentUsers />
          <HistoryButtons />
          {place === "canvas" && (
            <Tip text={t("form_more")}>
              <IconButton label={t("form_more")} size="sm" on={form} onClick={showForm}>
                <ClipboardList />
              </IconButton>
            </Tip>
          )}
          <FlowMenu flowId={flowId} />
          {asks && (
            <Tip text={t("assistant")} keys={keysOf("assistant", changed)}>
              <Button
                icon={<Sparkles />}
                aria-label={t("assistant")}
                aria-pressed={assistant}
                onClick={() => put("assistant", !assistant)}
                className="ml-1 max-sm:px-2"
              >
                <span className="hidden @2xl:inline">{t("assistant")}</span>
              </Button>
            </Tip>
          )}
          {runs && (
            <Tip text={t("run_this")} keys={keysOf("run", changed)}>
              <Button kind="primary" icon={<Play />} aria-label={t("run")} onClick={run} className="max-sm:px-2">
                <span className="hidden @2xl:inline">{t("run")}</span>
              </Button>
            </Tip>
          )}
        </div>
      </div>
    </header>
  );
}
