import { SquarePen, Zap } from "lucide-react";
import { useEffect, useState } from "react";
import { useCommands } from "@/lib/commands/commands";
import { useDraftStore } from "@/lib/draft";
import { usePanels } from "@/lib/panels";
import { useRequests } from "@/lib/requests";
import { Conversation } from "./state/conversation";
import { createAssistantStore } from "./state/store";
import { useAssistantTexts } from "./texts";
import { useDockTexts } from "./texts/dock";
import { AssistantProvider } from "./views/context";
import Panel from "./views/Panel";

interface AssistantProps {
  open: boolean;
  beside: boolean;
  hidden: boolean;
  onClose: () => void;
}

/** The conversation about an open flow, and its panel while that is open. */
export default function Assistant({ open, beside, hidden, onClose }: AssistantProps) {
  const t = useAssistantTexts();
  const dock = useDockTexts();
  const held = useHeldConversation();
  const { store, conversation } = held;
  const ask = useRequests((state) => state.ask);
  useEffect(() => {
    if (!ask) return;
    useRequests.setState({ ask: null });
    usePanels.getState().setOpen("assistant", true);
    if (ask.send) void conversation.say(ask.text);
    else store.getState().setText(ask.text);
  }, [ask, conversation, store]);
  useCommands("assistant.conversation", () => [
    {
      id: "assistant.new",
      group: dock("title"),
      label: t("new_session"),
      icon: <SquarePen />,
      run: () => conversation.newSession(),
    },
    {
      id: "assistant.skip-all",
      group: dock("title"),
      label: store.getState().skipAll ? t("command_ask_again") : t("command_skip"),
      icon: <Zap />,
      run: () => void conversation.say("/skip-all"),
    },
  ]);
  if (!open) return null;
  return (
    <AssistantProvider value={held}>
      <Panel beside={beside} hidden={hidden} onClose={onClose} />
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
