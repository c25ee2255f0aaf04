import { Plug, Sparkles } from "lucide-react";
import { useState } from "react";
import { isOfModel } from "@/api/modelProblems";
import { Markdown } from "@/components/markdown/Markdown";
import { Button, Callout, Words } from "@/components/ui";
import type { AssistantMessage } from "../model/message";
import { useAssistantTexts } from "../texts";
import { ComponentCard } from "./ComponentCard";
import { ConnectDialog } from "./ConnectDialog";
import { useAssistant } from "./context";
import { EditCards } from "./EditCards";
import { FileCards } from "./FileCards";
import { Outcome } from "./Outcome";
import { PlanCard } from "./PlanCard";
import { ProposalCard } from "./ProposalCard";
import { RunCard } from "./RunCard";
import { Tasks } from "./Tasks";
import { Usage } from "./Usage";
import { Working } from "./Working";

/** One answer: what was done, what is said, and what waits to be decided. */
export function Answer({ message }: { message: AssistantMessage }) {
  const t = useAssistantTexts();
  const working = useAssistant((state) => state.working === message.id);
  return (
    <article aria-label={t("answer")} aria-busy={working} className="flex flex-col gap-2.5">
      <header className="flex min-h-5 items-center gap-2 text-xs">
        <Sparkles aria-hidden className="size-3.5 shrink-0 text-accent" />
        <span className="shrink-0 font-medium text-muted">{message.offline ? t("model_offline") : t("answer")}</span>
        {!working && <Usage message={message} />}
      </header>
      {message.tasks.length > 0 && <Tasks tasks={message.tasks} />}
      {message.text && <Markdown text={message.text} className="text-base" />}
      {message.plan && <PlanCard message={message} plan={message.plan} />}
      {message.proposal && <ProposalCard message={message} proposal={message.proposal} />}
      {message.edits.length > 0 && <EditCards message={message} />}
      {message.component && <ComponentCard message={message} made={message.component} />}
      {message.files.length > 0 && <FileCards files={message.files} />}
      {message.runs.map((run) => (
        <RunCard key={run.runId} run={run} />
      ))}
      {working ? <Working message={message} /> : <Ending message={message} />}
    </article>
  );
}

function Ending({ message }: { message: AssistantMessage }) {
  const t = useAssistantTexts();
  const { problem, status } = message;
  return (
    <>
      {status === "done" && <Outcome message={message} />}
      {status === "cancelled" && <p className="text-sm text-muted">{t("cancelled")}</p>}
      {status === "failed" && (
        <Callout tone="bad" title={t("failed")}>
          {problem?.message}
          {problem?.remedy && (
            <p className="mt-1 text-muted">
              <Words>{problem.remedy}</Words>
            </p>
          )}
          {problem && isOfModel(problem.code) && <Connect />}
        </Callout>
      )}
    </>
  );
}

/** What connecting a provider may cure is cured here. */
function Connect() {
  const t = useAssistantTexts();
  const [open, setOpen] = useState(false);
  return (
    <div className="mt-2">
      <Button size="sm" icon={<Plug />} onClick={() => setOpen(true)}>
        {t("model_connect")}
      </Button>
      <ConnectDialog open={open} onOpenChange={setOpen} />
    </div>
  );
}
