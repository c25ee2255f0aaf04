import { CircleAlert, CircleCheck, CircleX, FlaskConical, GitMerge, Hand, Radio, Square } from "lucide-react";
import { memo, type ReactNode } from "react";
import { Chip, Words } from "@/components/ui";
import type { Entry, NoteEntry, PhaseEntry, TrialsEntry } from "../model/history";
import { askedWords, phaseWords } from "../model/said";
import { stopWords } from "../model/stopWords";
import { useCodevTexts } from "../texts";
import { ToolLine } from "./ToolLine";
import { VerdictView } from "./VerdictView";
import { WriteLine } from "./WriteLine";

/** One thing that happened. */
export const LogEntry = memo(function LogEntry({ entry }: { entry: Entry }) {
  const t = useCodevTexts();
  switch (entry.kind) {
    case "phase":
      return <PhaseLine entry={entry} />;
    case "tool":
      return (
        <li>
          <ToolLine entry={entry} />
        </li>
      );
    case "write":
      return (
        <li className="pl-1">
          <WriteLine {...entry} />
        </li>
      );
    case "trials":
      return <TrialsLine entry={entry} />;
    case "verdict":
      return entry.done ? (
        <Line icon={<CircleCheck className="text-ok" />}>{entry.reason || t("verdict_done")}</Line>
      ) : (
        <li>
          <VerdictView verdict={entry} />
        </li>
      );
    default:
      return <NoteLine entry={entry} />;
  }
});

function PhaseLine({ entry }: { entry: PhaseEntry }) {
  const t = useCodevTexts();
  // That it is done is said below it.
  if (entry.phase === "done") return null;
  return (
    <li className="mt-2 flex items-center gap-2 first:mt-0">
      <h3 className="text-xs font-semibold text-muted">{phaseWords(t, entry.phase)}</h3>
      {entry.iteration > 1 && <Chip>{t("iteration", { number: entry.iteration })}</Chip>}
      <span aria-hidden className="h-px flex-1 bg-line" />
    </li>
  );
}

function TrialsLine({ entry }: { entry: TrialsEntry }) {
  const t = useCodevTexts();
  const passed = entry.trials.filter((one) => one.passed).length;
  return (
    <Line icon={<FlaskConical className="text-accent" />}>
      {t("trials_run", { passed, run: entry.trials.length, of: Math.max(entry.of, entry.trials.length) })}
    </Line>
  );
}

function NoteLine({ entry }: { entry: NoteEntry }) {
  const t = useCodevTexts();
  switch (entry.kind) {
    case "asked":
      return <Line icon={<Hand className="text-accent" />}>{askedWords(t, entry)}</Line>;
    case "conflict":
      return (
        <Line icon={<GitMerge className="text-warn" />}>
          <span className="font-medium">{t("conflict")}</span> {entry.text}
        </Line>
      );
    case "webhook":
      return (
        <Line icon={<Radio className={entry.about === "delivered" ? "text-faint" : "text-warn"} />}>
          {t(entry.about === "delivered" ? "webhook_delivered" : "webhook_failed")} {entry.text}
        </Line>
      );
    case "error":
      return (
        <Line icon={<CircleX className="text-bad" />}>
          <Words>{entry.text}</Words>
        </Line>
      );
    default:
      return (
        <Line
          icon={entry.about === "completed" ? <CircleCheck className="text-ok" /> : <Square className="text-warn" />}
        >
          {stopWords(t, entry.text) || t(entry.about === "completed" ? "ended_completed" : "ended_stopped")}
        </Line>
      );
  }
}

function Line({ icon, children }: { icon: ReactNode; children: ReactNode }) {
  return (
    <li className="flex items-start gap-2 pl-1 text-sm">
      <span aria-hidden className="mt-0.5 [&_svg]:size-3.5">
        {icon ?? <CircleAlert />}
      </span>
      <span className="min-w-0 flex-1 whitespace-pre-wrap break-words">{children}</span>
    </li>
  );
}
