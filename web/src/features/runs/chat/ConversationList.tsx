import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ArrowLeft, MessageSquarePlus } from "lucide-react";
import { useState } from "react";
import { conversationsQuery } from "@/api/queries/chat";
import { Button, Input, Problem } from "@/components/ui";
import { ConversationRow } from "./ConversationRow";
import { useChatTexts } from "./texts";

interface ListProps {
  flowId: string;
  openId: string | undefined;
  /** A conversation, or a new one, was chosen. */
  onOpen: () => void;
}

/** The user's conversations with the flow: found by words of their titles. */
export function ConversationList({ flowId, openId, onOpen }: ListProps) {
  const t = useChatTexts();
  const [search, setSearch] = useState("");
  const list = useInfiniteQuery(conversationsQuery(flowId, search.trim()));
  const items = list.data?.pages.flatMap((page) => page.items);
  return (
    <>
      <div className="flex shrink-0 flex-col gap-2 p-3">
        <Link to="/chat" className="flex items-center gap-1.5 text-sm text-muted hover:text-ink">
          <ArrowLeft aria-hidden className="size-4" />
          {t("all_flows")}
        </Link>
        <Link
          to="/chat/$flowId/{-$conversationId}"
          params={{ flowId, conversationId: undefined }}
          onClick={onOpen}
          className="flex h-8 items-center justify-center gap-2 rounded-md border border-line-strong bg-raised px-3 shadow-low hover:bg-hover"
        >
          <MessageSquarePlus aria-hidden className="size-4" />
          {t("new_chat")}
        </Link>
        <Input
          type="search"
          aria-label={t("find_conversation")}
          placeholder={t("find_conversation")}
          maxLength={200}
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto px-2 pb-3">
        {list.isError && <Problem error={list.error} retry={() => void list.refetch()} />}
        {items?.length === 0 && (
          <p className="px-3 py-2 text-sm text-muted">{search.trim() ? t("no_match") : t("no_conversations")}</p>
        )}
        <ul aria-label={t("conversations")} className="flex flex-col gap-0.5">
          {items?.map((one) => (
            <ConversationRow key={one.id} conversation={one} open={one.id === openId} onOpen={onOpen} />
          ))}
        </ul>
        {list.hasNextPage && (
          <Button
            size="sm"
            className="mt-2 ml-3"
            busy={list.isFetchingNextPage}
            onClick={() => void list.fetchNextPage()}
          >
            {t("more")}
          </Button>
        )}
      </div>
    </>
  );
}
