import { Check, ListTree } from "lucide-react";
import { Markdown } from "@/components/markdown/Markdown";
import { Button, Chip, cx } from "@/components/ui";
import type { AssistantMessage, Plan } from "../model/message";
import { useAssistantTexts } from "../texts";
import { Card } from "./Card";
import { useAssistant, useConversation } from "./context";

/** A plan to approve, to refine in words, or to leave. */
export function PlanCard({ message, plan }: { message: AssistantMessage; plan: Plan }) {
  const t = useAssistantTexts();
  const refining = plan.state === "refining";
  return (
    <Card
      icon={<ListTree />}
      title={refining ? t("plan_refining") : t("plan")}
      dashed={refining}
      aside={<State state={plan.state} />}
      footer={plan.state === "pending" || refining ? <Choices message={message} plan={plan} /> : undefined}
    >
      <Markdown text={plan.markdown} className={cx("text-sm", plan.state === "dismissed" && "text-muted")} />
      {refining && <p className="mt-2 text-xs text-muted">{t("plan_refining_about")}</p>}
    </Card>
  );
}

function State({ state }: { state: Plan["state"] }) {
  const t = useAssistantTexts();
  if (state === "approved") {
    return (
      <Chip tone="ok" icon={<Check />}>
        {t("plan_approved")}
      </Chip>
    );
  }
  return state === "dismissed" ? <Chip className="line-through">{t("dismissed")}</Chip> : null;
}

function Choices({ message, plan }: { message: AssistantMessage; plan: Plan }) {
  const t = useAssistantTexts();
  const conversation = useConversation();
  const busy = useAssistant((state) => state.working !== null);
  const refining = plan.state === "refining";
  return (
    <>
      <Button
        size="sm"
        kind="primary"
        disabled={busy}
        onClick={() => void conversation.decidePlan(message.id, "approve")}
      >
        {t("approve")}
      </Button>
      <Button
        size="sm"
        kind="ghost"
        onClick={() => void conversation.decidePlan(message.id, refining ? "reset" : "dismiss")}
      >
        {refining ? t("reset") : t("dismiss")}
      </Button>
    </>
  );
}
