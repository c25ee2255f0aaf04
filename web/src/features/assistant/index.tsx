import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { useDraftStore } from "@/lib/draft";
import { usePanels } from "@/lib/panels";
import { useRequests } from "@/lib/requests";
import { useShortcuts } from "@/lib/shortcuts/shortcuts";
import { Conversation } from "./state/conversation";
import { createAssistantStore } from "./state/store";
import { useAssistantTexts } from "./texts";
import { AssistantProvider } from "./views/context";

const Panel = lazy(() => import("./views/Panel"));

/** The assistant of an open flow. It is there while the flow is, also while its panel is closed. */
export function AssistantDock() {
  const held = useHeldConversation();
  const open = usePanels((state) => state.open.assistant);
  const { setOpen } = usePanels.getState();
  const before = useRef<HTMLElement | null>(null);
  const show = (next: boolean) => {
    if (next) before.current = document.activeElement as HTMLElement | null;
    setOpen("assistant", next);
    if (!next) before.current?.focus();
  };
  useShortcuts({
    assistant: () => {
      show(!open);
      return true;
    },
  });
  useAsked(held.conversation, (text) => held.store.getState().setText(text));
  if (!open) return null;
  return (
    <AssistantProvider value={held}>
      <Suspense fallback={null}>
        <Panel onClose={() => show(false)} />
      </Suspense>
    </AssistantProvider>
  );
}

function useHeldConversation() {
  const t = useAssistantTexts();
  const draft = useDraftStore();
  const [held] = useState(() => {
    const { flowId } = draft.getState();
    const store = createAssistantStore(flowId, () => draft.getState().templates);
    const conversation = new Conversation(store, {
      draft,
      labels: { turn: t("label_turn"), add: t("label_add"), replace: t("label_replace"), edit: t("label_edit") },
      unsaved: { message: t("unsaved"), code: "unsaved", remedy: t("unsaved_remedy") },
      offline: { message: t("offline"), code: "offline", remedy: t("offline_remedy") },
    });
    return { store, conversation };
  });
  useEffect(() => () => held.conversation.close(), [held]);
  return held;
}

/** What another part of the page wants to be asked: written into the field, or sent. */
function useAsked(conversation: Conversation, write: (text: string) => void): void {
  const ask = useRequests((state) => state.ask);
  useEffect(() => {
    if (!ask) return;
    useRequests.setState({ ask: null });
    usePanels.getState().setOpen("assistant", true);
    if (ask.send) void conversation.say(ask.text);
    else write(ask.text);
  }, [ask, conversation, write]);
}
