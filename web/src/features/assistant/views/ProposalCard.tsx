import { Check, Undo2, Workflow } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { FlowDrawing } from "@/components/flow-drawing/FlowDrawing";
import { Button, Callout, Chip } from "@/components/ui";
import { toFlow, useDraft, useDraftStore } from "@/lib/draft";
import { withTail } from "../model/merge";
import type { AssistantMessage, Proposal } from "../model/message";
import { type SayAssistant, useAssistantTexts } from "../texts";
import { Card } from "./Card";
import { useConversation } from "./context";

/** A whole flow to look at before it is taken: beside what is there, in its place, or not at all. */
export function ProposalCard({ message, proposal }: { message: AssistantMessage; proposal: Proposal }) {
  const t = useAssistantTexts();
  const templates = useDraft((state) => state.templates);
  const flow = useMemo(() => toFlow(withTail(proposal.flow, proposal.tail)), [proposal.flow, proposal.tail]);
  const name = flow.name || t("untitled");
  const { landed, state } = proposal;
  const size = { nodes: flow.nodes?.length ?? 0, edges: flow.edges?.length ?? 0 };
  const footer =
    state === "pending" ? (
      <Choices message={message} proposal={proposal} />
    ) : state === "applied" ? (
      <Undo />
    ) : undefined;
  const box = useFocusKept(state);
  return (
    <div ref={box} tabIndex={-1} className="outline-none">
      <Card icon={<Workflow />} title={t("proposal")} aside={<State proposal={proposal} />} footer={footer}>
        <p className="mb-2 flex items-baseline gap-2">
          <span className="min-w-0 truncate font-medium">{name}</span>
          <span className="shrink-0 text-xs text-muted">{sizeText(t, size)}</span>
        </p>
        <div className="h-44 rounded-md border border-line bg-canvas p-2">
          <FlowDrawing flow={flow} templates={templates} title={t("proposal_drawing", { name })} />
        </div>
        {proposal.replaces.length > 0 && state === "pending" && (
          <p className="mt-2 text-xs text-muted">{t("proposal_replaces", { count: proposal.replaces.length })}</p>
        )}
        {landed && state !== "dismissed" && (
          <p className="mt-2 text-xs text-muted">{t("landed", { size: sizeText(t, landed) })}</p>
        )}
      </Card>
    </div>
  );
}

/** The buttons of a choice go with it: the focus stays on the card, on what can be done next. */
function useFocusKept(state: Proposal["state"]) {
  const box = useRef<HTMLDivElement>(null);
  const before = useRef(state);
  useEffect(() => {
    if (before.current === state) return;
    before.current = state;
    if (document.activeElement !== document.body) return;
    (box.current?.querySelector<HTMLElement>("button") ?? box.current)?.focus({ preventScroll: true });
  }, [state]);
  return box;
}

const sizeText = (t: SayAssistant, size: { nodes: number; edges: number }) =>
  `${t("steps", { count: size.nodes })}, ${t("connections", { count: size.edges })}`;

function State({ proposal }: { proposal: Proposal }) {
  const t = useAssistantTexts();
  if (proposal.state === "applied") {
    return (
      <Chip tone="ok" icon={<Check />}>
        {t("added")}
      </Chip>
    );
  }
  return proposal.state === "dismissed" ? <Chip>{t("dismissed")}</Chip> : null;
}

function Choices({ message, proposal }: { message: AssistantMessage; proposal: Proposal }) {
  const t = useAssistantTexts();
  const conversation = useConversation();
  const editable = useDraft((state) => state.editable);
  const empty = useDraft((state) => state.document.order.length === 0);
  const [refused, setRefused] = useState(false);
  // What changes nodes that are there is meant in their place, everything else beside them.
  const inPlace = !empty && proposal.replaces.length > 0;
  const again = proposal.times > 0;
  const take = (how: "add" | "replace") => {
    setRefused(!conversation.take(message.id, how));
  };
  return (
    <>
      {refused && <Callout tone="bad">{t("not_taken")}</Callout>}
      <Button size="sm" kind={inPlace ? "secondary" : "primary"} disabled={!editable} onClick={() => take("add")}>
        {again ? t("add_again") : t("add")}
      </Button>
      {!empty && (
        <Button size="sm" kind={inPlace ? "primary" : "secondary"} disabled={!editable} onClick={() => take("replace")}>
          {again ? t("replace_again") : t("replace")}
        </Button>
      )}
      <Button size="sm" kind="ghost" onClick={() => conversation.dismissProposal(message.id)}>
        {t("dismiss")}
      </Button>
    </>
  );
}

/** Takes back what was put there just now; gone once something else was changed. */
function Undo() {
  const t = useAssistantTexts();
  const draft = useDraftStore();
  const latest = useDraft((state) => state.past.at(-1));
  const ours = latest?.origin === "assistant" && [t("label_add"), t("label_replace")].includes(latest.label);
  if (!ours) return null;
  return (
    <Button size="sm" kind="ghost" icon={<Undo2 />} onClick={() => draft.getState().undo()}>
      {t("undo")}
    </Button>
  );
}
