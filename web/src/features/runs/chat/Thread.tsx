import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { MessageCircle } from "lucide-react";
import { useEffect, useState } from "react";
import { messagesQuery } from "@/api/queries/chat";
import { over, runKeys } from "@/api/queries/runs";
import type { RunOut } from "@/api/types";
import { Button, EmptyState, Problem, Skeleton } from "@/components/ui";
import { Turn } from "./Turn";
import { TurnFoot } from "./TurnFoot";
import { useChatTexts } from "./texts";

interface ThreadProps {
  conversationId: string;
  onSend: (text: string, files: string[]) => Promise<boolean>;
  /** Whether the flow is answering: it waits for nobody. */
  onAnswering: (answering: boolean) => void;
}

const ANSWERING = new Set<RunOut["status"]>(["queued", "running"]);

/** The messages of a conversation, the newest at the bottom. */
export function Thread({ conversationId, onSend, onAnswering }: ThreadProps) {
  const t = useChatTexts();
  const queries = useQueryClient();
  const messages = useInfiniteQuery(messagesQuery(conversationId));
  const [seeded, setSeeded] = useState(false);
  const runs = messages.data?.pages.flatMap((page) => page.items);
  // The list has the runs whole: none that is over is asked for again.
  useEffect(() => {
    for (const run of messages.data?.pages.flatMap((page) => page.items) ?? [])
      if (over(run) || !queries.getQueryData(runKeys.one(run.id))) queries.setQueryData(runKeys.one(run.id), run);
    setSeeded(messages.data !== undefined);
  }, [messages.data, queries]);
  if (messages.isError) return <Problem error={messages.error} retry={() => void messages.refetch()} />;
  if (!runs || !seeded) return <Skeleton className="h-24" />;
  if (runs.length === 0)
    return (
      <EmptyState icon={<MessageCircle />} title={t("no_messages")}>
        {t("no_messages_more")}
      </EmptyState>
    );
  const newest = runs[0]?.id;
  return (
    <div className="flex flex-col gap-4">
      {messages.hasNextPage && (
        <Button
          size="sm"
          className="self-center"
          busy={messages.isFetchingNextPage}
          onClick={() => void messages.fetchNextPage()}
        >
          {t("earlier")}
        </Button>
      )}
      {runs.toReversed().map(({ id }) => (
        <Turn
          key={id}
          runId={id}
          {...(id === newest ? { onStatus: (status) => onAnswering(ANSWERING.has(status)) } : {})}
        >
          {(turn) => (
            <TurnFoot
              turn={turn}
              conversationId={conversationId}
              onAgain={
                id === newest && turn.run
                  ? () => void onSend(turn.run?.input.text ?? "", turn.run?.input.file_ids ?? [])
                  : undefined
              }
            />
          )}
        </Turn>
      ))}
    </div>
  );
}
