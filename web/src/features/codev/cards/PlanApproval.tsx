import { PencilLine } from "lucide-react";
import { useState } from "react";
import { CodeEditor } from "@/components/code";
import { DiffView } from "@/components/diff/DiffView";
import { Markdown } from "@/components/markdown/Markdown";
import { Button, Callout, Keys, Segments, Toggle } from "@/components/ui";
import { readCases } from "../model/cases";
import { type Conflict, readConflict, readVerdict } from "../model/known";
import { figure, list, words } from "../model/read";
import { readTrial } from "../model/trial";
import { isSame, useKept } from "../model/useKept";
import { VerdictView } from "../page/VerdictView";
import { useCodevTexts } from "../texts";
import { Answering, CardBody, CardFoot, useMayAnswer } from "./CardParts";
import { DiffLines } from "./DiffLines";
import { Feedback } from "./Feedback";
import { PlanCases } from "./PlanCases";
import type { CardProps } from "./props";
import { useAsking } from "./useAsking";

/** A plan with its tests, to approve as it is or edited, to have changed, or to end with. */
export function PlanApproval({ session, interrupt, answer, before }: CardProps) {
  const t = useCodevTexts();
  const data = interrupt.data ?? {};
  const proposed = words(data.plan);
  const proposedCases = readCases(data.cases);
  const [plan, setPlan] = useKept(interrupt.id, "plan", proposed);
  const [cases, setCases] = useKept(interrupt.id, "cases", proposedCases);
  const changed = !isSame(cases, proposedCases);
  const [repairs, setRepairs] = useState<boolean | null>(null);
  const { asking, ask, cancel, button } = useAsking();
  const trials = figure(data.test_trials) || 1;
  const ran = [...new Set(list(session.state?.trials).map((one) => readTrial(one).case))];
  const verdict = readVerdict(data.verdict);
  const conflict = readConflict(data.conflict);
  const approve = () =>
    answer.mutate({
      type: "plan_approval",
      approved: true,
      ...(plan !== proposed ? { plan } : {}),
      ...(changed ? { cases } : {}),
      ...(repairs !== null ? { repairs_approved: repairs } : {}),
    });
  const refuse = (feedback: string, stop = false) =>
    answer.mutate({ type: "plan_approval", approved: false, feedback, stop });
  const may = useMayAnswer();
  const ready = may && plan.trim() !== "" && cases.length > 0 && !answer.isPending;
  return (
    <div
      // Before the editor, which would begin a line. What a dialog of the card hears is its own.
      onKeyDownCapture={(event) => {
        if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || asking || !ready) return;
        if (!event.currentTarget.contains(event.target as Node)) return;
        event.preventDefault();
        event.stopPropagation();
        approve();
      }}
    >
      <CardBody>
        {conflict && <ConflictBanner conflict={conflict} />}
        {verdict && <VerdictView verdict={verdict} />}
        <Plan
          text={plan}
          before={before?.plan}
          edited={plan !== proposed}
          onChange={setPlan}
          onReset={() => setPlan(proposed)}
        />
        <Answering>
          <PlanCases
            cases={cases}
            proposed={proposedCases}
            before={before?.cases}
            ran={ran}
            trials={trials}
            onChange={setCases}
          />
          <Toggle
            label={t("repairs_approved")}
            help={t("repairs_approved_help")}
            checked={repairs ?? data.repairs_approved === true}
            onChange={setRepairs}
          />
        </Answering>
      </CardBody>
      <CardFoot>
        {asking ? (
          <Feedback interrupt={interrupt} busy={answer.isPending} onSend={(words) => refuse(words)} onCancel={cancel} />
        ) : (
          <>
            <Button kind="primary" disabled={!ready} busy={answer.isPending} onClick={approve}>
              {t(plan !== proposed || changed ? "approve_edited" : "approve")}
            </Button>
            <Button ref={button} disabled={answer.isPending} onClick={ask}>
              {t("ask_for_changes")}
            </Button>
            <Button kind="ghost" className="max-sm:hidden" disabled={answer.isPending} onClick={() => refuse("", true)}>
              {t("stop_here")}
            </Button>
            <span className="ml-auto max-sm:hidden">
              <Keys keys="$mod+Enter" />
            </span>
          </>
        )}
      </CardFoot>
    </div>
  );
}

interface PlanProps {
  text: string;
  /** The plan before this one. */
  before: string | undefined;
  edited: boolean;
  onChange: (text: string) => void;
  onReset: () => void;
}

function Plan({ text, before, edited, onChange, onReset }: PlanProps) {
  const t = useCodevTexts();
  const edits = useMayAnswer();
  const [view, setView] = useState<"read" | "changes" | "edit">("read");
  return (
    <section aria-label={t("plan")} className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <h3 className="mr-auto font-medium">{t("plan")}</h3>
        {edits && edited && (
          <Button size="sm" kind="ghost" onClick={onReset}>
            {t("as_proposed")}
          </Button>
        )}
        <Segments
          size="sm"
          aria-label={t("plan_view")}
          value={view}
          options={[
            { value: "read", label: t("read") },
            ...(before && before !== text ? [{ value: "changes" as const, label: t("plan_changes") }] : []),
            ...(edits ? [{ value: "edit" as const, label: t("edit"), icon: <PencilLine /> }] : []),
          ]}
          onChange={setView}
        />
      </div>
      {view === "edit" ? (
        <CodeEditor
          language="markdown"
          label={t("plan")}
          minLines={10}
          maxLines={28}
          value={text}
          onChange={onChange}
        />
      ) : view === "changes" && before ? (
        <DiffView before={before} after={text} label={t("plan_changes")} />
      ) : (
        <Markdown text={text} className="rounded-md border border-line bg-canvas px-4 py-3" />
      )}
    </section>
  );
}

/** Somebody else changed the flow meanwhile: nothing was written, and this plan is for how it is now. */
function ConflictBanner({ conflict }: { conflict: Conflict }) {
  const t = useCodevTexts();
  return (
    <Callout tone="warn" title={t("conflict")}>
      <p>{conflict.message}</p>
      {conflict.lines.length > 0 && (
        <div className="mt-2">
          <DiffLines lines={conflict.lines} label={t("their_changes")} />
        </div>
      )}
    </Callout>
  );
}
