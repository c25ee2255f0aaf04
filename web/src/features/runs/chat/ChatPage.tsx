import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { ArrowLeft, MessageCircle } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { chatFlowQuery } from "@/api/queries/chat";
import { Markdown } from "@/components/markdown/Markdown";
import { Button, CopyButton, cx, EmptyState, IconButton, Problem, Skeleton } from "@/components/ui";
import { Composer } from "./Composer";
import { ConversationList } from "./ConversationList";
import { Thread } from "./Thread";
import { useChatTexts } from "./texts";
import { useSend } from "./useSend";

const LONGEST_MESSAGE = 200_000;

/** The chat with a published flow: conversations, and next to them the open one; one of both on a narrow screen. */
export function ChatPage() {
  const t = useChatTexts();
  const { flowId, conversationId } = useParams({ from: "/inside/chat/$flowId/{-$conversationId}" });
  const flow = useQuery(chatFlowQuery(flowId));
  const [listing, setListing] = useState(false);
  if (flow.isError)
    return (
      <div className="mx-auto max-w-xl p-6">
        <Problem error={flow.error} retry={() => void flow.refetch()} />
      </div>
    );
  return (
    <div className="flex h-full min-h-0">
      <div
        className={cx(
          "min-h-0 min-w-0 flex-1 flex-col bg-surface lg:flex lg:w-72 lg:flex-none lg:border-r lg:border-line",
          listing ? "flex" : "hidden",
        )}
      >
        <div className="p-3 pb-0 lg:hidden">
          <Button size="sm" kind="ghost" icon={<ArrowLeft />} onClick={() => setListing(false)}>
            {t("back_to_chat")}
          </Button>
        </div>
        <ConversationList flowId={flowId} openId={conversationId} onOpen={() => setListing(false)} />
      </div>
      <div className={cx("min-h-0 min-w-0 flex-1 flex-col lg:flex", listing ? "hidden" : "flex")}>
        <header className="flex shrink-0 items-center gap-2 border-b border-line px-4 py-2">
          <span className="lg:hidden">
            <IconButton label={t("show_conversations")} onClick={() => setListing(true)}>
              <MessageCircle />
            </IconButton>
          </span>
          <h1 className="min-w-0 flex-1 truncate text-lg font-semibold">{flow.data?.name ?? ""}</h1>
          <CopyButton text={`${window.location.origin}/chat/${flowId}`} label={t("copy_link")} />
        </header>
        {flow.data ? <Conversation key={conversationId ?? "new"} flow={flow.data} id={conversationId} /> : <Skeleton />}
      </div>
    </div>
  );
}

interface ConversationProps {
  flow: {
    id: string;
    name: string;
    description: string;
    welcome_text: string;
    questions: string[];
    takes_files: boolean;
  };
  id: string | undefined;
}

function Conversation({ flow, id }: ConversationProps) {
  const t = useChatTexts();
  const { send, sending } = useSend(flow.id, id);
  const [answering, setAnswering] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus({ preventScroll: true }), []);
  return (
    <>
      <section aria-label={t("messages")} className="flex min-h-0 flex-1 flex-col-reverse overflow-y-auto">
        <div className="mx-auto w-full max-w-3xl px-4 py-4">
          {id ? (
            <Thread conversationId={id} onSend={send} onAnswering={setAnswering} />
          ) : (
            <EmptyState
              icon={<MessageCircle />}
              title={flow.name}
              action={flow.questions.map((question) => (
                <Button
                  key={question}
                  size="sm"
                  className="h-auto! whitespace-normal! py-1.5 text-left"
                  disabled={sending}
                  onClick={() => void send(question, [])}
                >
                  {question}
                </Button>
              ))}
            >
              <Markdown text={flow.welcome_text || flow.description} />
            </EmptyState>
          )}
        </div>
      </section>
      <div className="mx-auto w-full max-w-3xl shrink-0 px-4 pt-2 pb-3">
        <Composer
          busy={sending || answering}
          takesFiles={flow.takes_files}
          onSend={send}
          longest={LONGEST_MESSAGE}
          field={field}
        />
        <p className="mt-1 text-xs text-muted">{t("seen_by")}</p>
      </div>
    </>
  );
}
