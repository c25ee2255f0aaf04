import { type ReactNode, useState } from "react";
import type { CodevSession } from "@/api/queries/codev";
import { CaseList } from "@/components/cases";
import { Markdown } from "@/components/markdown/Markdown";
import { Tabs } from "@/components/ui";
import { readCases } from "../model/cases";
import { readFound, readVerdict, readWrites } from "../model/known";
import { words } from "../model/read";
import type { LiveSession } from "../model/session";
import { casesRun, liveTrials } from "../model/trials";
import { useCodevTexts } from "../texts";
import { TrialTable } from "./TrialTable";
import { VerdictView } from "./VerdictView";
import { WriteLine } from "./WriteLine";

type Tab = "tests" | "plan" | "found" | "changes";

/** What the session knows by now: its tests, its plan, what it found, what it wrote. */
export function Known({ session, live }: { session: CodevSession; live: LiveSession }) {
  const t = useCodevTexts();
  const state = session.state ?? {};
  const trials = liveTrials(live.entries, state.trials);
  const cases = readCases(state.cases);
  const ran = casesRun(trials, cases, live);
  const writes = readWrites(state.writes);
  const verdict = live.status === "in_progress" ? readVerdict(state.converge_verdict) : null;
  const reviewing = live.interrupt?.type === "result_review";
  const planning = live.interrupt?.type === "plan_approval";
  const tabs: { value: Tab; label: string; content: ReactNode }[] = [];
  const add = (value: Tab, label: string, content: ReactNode) =>
    tabs.push({ value, label, content: <div className="p-4">{content}</div> });
  if (trials.length > 0 && !reviewing) add("tests", t("tests"), <TrialTable trials={trials} cases={ran} />);
  else if (cases.length > 0 && !reviewing && !planning) add("tests", t("tests"), <CaseList cases={cases} />);
  if (words(state.plan) && !planning) add("plan", t("plan"), <Markdown text={words(state.plan)} />);
  const found = readFound(state.discovery_summary);
  if (found) add("found", t("found"), <Markdown text={found} />);
  if (writes.length > 0) {
    add(
      "changes",
      t("writes"),
      <ul className="flex flex-col gap-1.5">
        {writes.map((one) => (
          <li key={one.number}>
            <WriteLine {...one} />
          </li>
        ))}
      </ul>,
    );
  }
  const [chosen, setChosen] = useState<Tab | null>(null);
  const open = tabs.find(({ value }) => value === chosen) ?? tabs[0];
  if (!open) return null;
  return (
    <>
      {verdict && <VerdictView verdict={verdict} />}
      <Tabs
        aria-label={t("known")}
        className="overflow-hidden rounded-lg border border-line bg-surface"
        value={open.value}
        onChange={setChosen}
        tabs={tabs}
      />
    </>
  );
}
