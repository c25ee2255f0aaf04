import { ArrowDown } from "lucide-react";
import { memo, useLayoutEffect, useRef, useState } from "react";
import { IconButton } from "@/components/ui";
import type { Message } from "../model/message";
import { type AssistantText, useAssistantTexts } from "../texts";
import { useDockTexts } from "../texts/dock";
import { Answer } from "./Answer";
import { useAssistant } from "./context";
import { Welcome } from "./Welcome";

/** How far from the end somebody may be and still follow it. */
const NEAR = 80;

/** The conversation. It follows what comes, unless somebody reads further up. */
export function Messages() {
  const t = useAssistantTexts();
  const dock = useDockTexts();
  const messages = useAssistant((state) => state.messages);
  const list = useRef<HTMLDivElement>(null);
  const [follows, setFollows] = useState(true);
  const said = messages.findLast((one) => one.role === "user")?.id;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was said just now is looked at
  useLayoutEffect(() => {
    setFollows(true);
  }, [said]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: every new piece is followed
  useLayoutEffect(() => {
    if (follows && list.current) list.current.scrollTop = list.current.scrollHeight;
  }, [messages, follows]);
  const onScroll = () => {
    const box = list.current;
    if (box) setFollows(box.scrollHeight - box.scrollTop - box.clientHeight < NEAR);
  };
  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={list}
        role="log"
        aria-label={dock("title")}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
        tabIndex={0}
        onScroll={onScroll}
        className="h-full overflow-y-auto overscroll-contain px-4 py-3"
      >
        {messages.length === 0 ? (
          <Welcome />
        ) : (
          <div className="flex flex-col gap-5">
            {messages.map((message) => (
              <One key={message.id} message={message} />
            ))}
          </div>
        )}
      </div>
      {!follows && (
        <IconButton
          label={t("jump")}
          kind="secondary"
          size="sm"
          className="absolute right-4 bottom-2 rounded-full"
          onClick={() => setFollows(true)}
        >
          <ArrowDown />
        </IconButton>
      )}
    </div>
  );
}

const One = memo(function One({ message }: { message: Message }) {
  const t = useAssistantTexts();
  if (message.role === "assistant") return <Answer message={message} />;
  if (message.role === "note") {
    return <p className="rounded-md bg-sunken px-3 py-2 text-sm text-muted">{t(message.key as AssistantText)}</p>;
  }
  return (
    <article
      aria-label={t("said")}
      className="ml-8 self-end whitespace-pre-wrap break-words rounded-lg bg-accent-soft px-3 py-2"
    >
      {message.kind === "approval" ? t("approved_plan") : message.text}
    </article>
  );
});
