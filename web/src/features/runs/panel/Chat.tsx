import { useQuery } from "@tanstack/react-query";
import { MessageCircle, MessageSquarePlus } from "lucide-react";
import { useEffect, useRef } from "react";
import { newestRunsQuery } from "@/api/queries/runs";
import { Button, EmptyState } from "@/components/ui";
import { sampleOf } from "@/lib/sample";
import { Composer } from "../chat/Composer";
import { Turn } from "../chat/Turn";
import { useRunTexts } from "../texts";

interface ChatProps {
  flowId: string;
  session: string;
  /** The run of the newest message, which the list may not have yet. */
  newest: string | null;
  busy: boolean;
  /** When the message box was last to be focused, as a time; 0 before. */
  focused: number;
  onSend: (text: string, files: string[]) => Promise<boolean>;
  onNew: () => void;
  onStep: (runId: string) => void;
}

/** A conversation with the flow: each message is a run of the same session. */
export function Chat({ flowId, session, newest, busy, focused, onSend, onNew, onStep }: ChatProps) {
  const t = useRunTexts();
  const { data } = useQuery(newestRunsQuery({ flow_id: flowId, session_id: session }, 30));
  const known = (data ?? []).map((run) => run.id).reverse();
  const turns = newest && !known.includes(newest) ? [...known, newest] : known;
  const field = useRef<HTMLTextAreaElement>(null);
  // The chat may come a moment later than what asked for it.
  useEffect(() => {
    if (focused) field.current?.focus();
  }, [focused]);
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <section aria-label={t("message")} className="flex min-h-0 flex-1 flex-col-reverse overflow-y-auto px-3 py-3">
        <div className="flex flex-col gap-3">
          {turns.length === 0 && (
            <EmptyState icon={<MessageCircle />} title={t("chat_empty")}>
              {t("chat_empty_more")}
            </EmptyState>
          )}
          {turns.map((id) => (
            <Turn key={id} runId={id}>
              {() => (
                <button
                  type="button"
                  className="px-1 text-xs text-muted hover:text-ink hover:underline"
                  onClick={() => onStep(id)}
                >
                  {t("steps")}
                </button>
              )}
            </Turn>
          ))}
        </div>
      </section>
      <div className="border-t border-line p-3">
        <Composer field={field} busy={busy} takesFiles onSend={onSend} first={sampleOf(flowId)?.text ?? ""}>
          <Button size="sm" kind="ghost" icon={<MessageSquarePlus />} onClick={onNew} disabled={turns.length === 0}>
            {t("new_chat")}
          </Button>
        </Composer>
      </div>
    </div>
  );
}
