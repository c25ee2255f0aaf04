import { Hand } from "lucide-react";
import { type ReactNode, useEffect } from "react";
import type { Interrupt } from "@/api/queries/codev";
import { useRights } from "@/api/rights";
import { kindOf, readMissing } from "../model/known";
import { useFocusWhenLost } from "../page/useFocusWhenLost";
import { type CodevText, useCodevTexts } from "../texts";
import { Answerable } from "./CardParts";
import { Clarification } from "./Clarification";
import { Credentials } from "./Credentials";
import { PlanApproval } from "./PlanApproval";
import type { CardProps } from "./props";
import { Review } from "./Review";
import { useAnswer } from "./useAnswer";

const CARDS: Record<Interrupt["type"], (props: CardProps) => ReactNode> = {
  clarification: Clarification,
  credential_check: Credentials,
  plan_approval: PlanApproval,
  result_review: Review,
};

/** How far down of the window, as a share of it, the card may begin before it is brought into view. */
const MOST_DOWN = 0.7;

/** What the session waits for, to be answered here. */
export function WaitingCard({ session, interrupt, before }: Omit<CardProps, "answer">) {
  const t = useCodevTexts();
  const answer = useAnswer(session.thread_id, interrupt.id);
  const Card = CARDS[interrupt.type] as ((props: CardProps) => ReactNode) | undefined;
  const kind = kindOf(interrupt.type, interrupt.data ?? {});
  const title = Card ? t(`waits_${kind}` as CodevText) : t("waiting_for_you");
  // What is asked is said in the language of the page; a kind that it does not know, as the server says it.
  const there = interrupt.type === "credential_check" && readMissing(interrupt.data?.missing).length === 0;
  const about = there
    ? t(kind === "model_key" ? "model_key_there" : "credentials_all_there")
    : Card
      ? t(`asks_${kind}` as CodevText)
      : interrupt.prompt;
  const answers = useRights().may("flows.edit", session.space_id);
  const card = useFocusWhenLost<HTMLElement>();
  // Who watched is told that it is their turn, wherever on the page they were.
  useEffect(() => {
    const top = card.current?.getBoundingClientRect().top ?? 0;
    if (top < 0 || top > window.innerHeight * MOST_DOWN) card.current?.scrollIntoView({ block: "start" });
  }, [card]);
  return (
    <section
      ref={card}
      tabIndex={-1}
      aria-label={title}
      className="flex scroll-mt-4 flex-col overflow-clip rounded-lg border border-accent bg-surface shadow-card outline-none"
    >
      <header className="flex items-start gap-2.5 border-b border-line bg-accent-soft px-4 py-2.5">
        <Hand aria-hidden className="mt-0.5 size-4.5 shrink-0 text-accent" />
        <div className="min-w-0">
          <h2 className="font-semibold">{title}</h2>
          {about && <p className="whitespace-pre-wrap break-words text-sm text-muted">{about}</p>}
          {!answers && <p className="mt-1 text-sm">{t("answer_not_allowed")}</p>}
          {session.hint && <p className="mt-1 break-words text-sm">{t("left_out")}</p>}
        </div>
      </header>
      {Card && (
        <Answerable value={answers}>
          <Card session={session} interrupt={interrupt} answer={answer} before={before} />
        </Answerable>
      )}
    </section>
  );
}
