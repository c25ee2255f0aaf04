import { type InfiniteData, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { addConversation, chatKeys, sendMessage } from "@/api/queries/chat";
import { runKeys } from "@/api/queries/runs";
import type { RunOut } from "@/api/types";
import { toastError } from "@/components/ui";
import { useChatTexts } from "./texts";

type Messages = InfiniteData<{ items: RunOut[]; next_cursor?: string | null }, string | null>;

/** Sends messages; the first one starts the conversation. */
export function useSend(flowId: string, conversationId: string | undefined) {
  const t = useChatTexts();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [sending, setSending] = useState(false);
  // A conversation whose first message was refused is used for the next one.
  const [begun, setBegun] = useState<string | null>(null);
  const send = async (text: string, files: string[]): Promise<boolean> => {
    setSending(true);
    try {
      const id = conversationId ?? begun ?? (await addConversation(flowId)).id;
      setBegun(id);
      const run = await sendMessage(id, text, files, crypto.randomUUID());
      queries.setQueryData(runKeys.one(run.id), run);
      queries.setQueryData<Messages>(chatKeys.messages(id), (before) => withNewest(before, run));
      if (!conversationId) {
        setBegun(null);
        await navigate({ to: "/chat/$flowId/{-$conversationId}", params: { flowId, conversationId: id } });
      }
      return true;
    } catch (error) {
      toastError(t("send_failed"), error);
      return false;
    } finally {
      setSending(false);
      void queries.invalidateQueries({ queryKey: chatKeys.conversations(flowId) });
    }
  };
  return { send, sending };
}

/** The messages with one more; those that are not known yet stay to be read. */
function withNewest(before: Messages | undefined, run: RunOut): Messages {
  const [first, ...others] = before?.pages ?? [{ items: [], next_cursor: null }];
  const items = [run, ...(first?.items ?? []).filter(({ id }) => id !== run.id)];
  return {
    pages: [{ ...first, items }, ...others],
    pageParams: before?.pageParams ?? [null],
  };
}
