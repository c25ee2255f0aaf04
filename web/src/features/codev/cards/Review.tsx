import { useQuery } from "@tanstack/react-query";
import { Check, RotateCcw } from "lucide-react";
import { useState } from "react";
import { codevDomainsQuery } from "@/api/queries/codev";
import { Markdown } from "@/components/markdown/Markdown";
import { Button, Callout, Tabs, Toggle } from "@/components/ui";
import { readCases } from "../model/cases";
import { allTakenBack, readVerdict, readWrites } from "../model/known";
import { lines, list, words } from "../model/read";
import { readTrial } from "../model/trial";
import { PlaceLink } from "../page/PlaceLink";
import { RollBack } from "../page/RollBack";
import { TrialTable } from "../page/TrialTable";
import { VerdictView } from "../page/VerdictView";
import { WriteLine } from "../page/WriteLine";
import { useCodevTexts } from "../texts";
import { Answering, CardBody, CardFoot } from "./CardParts";
import { DiffLines } from "./DiffLines";
import { Feedback } from "./Feedback";
import type { CardProps } from "./props";
import { useAsking } from "./useAsking";

/** What came of it: in words, as changes and as tests; to accept, to have changed, or to take back. */
export function Review({ session, interrupt, answer }: CardProps) {
  const t = useCodevTexts();
  const data = interrupt.data ?? {};
  const domains = useQuery(codevDomainsQuery).data;
  const keeps = domains?.items.find(({ name }) => name === session.domain)?.test_sets ?? false;
  const [tab, setTab] = useState<"tests" | "diff">("tests");
  const [saving, setSaving] = useState(true);
  const { asking, ask, cancel, button } = useAsking();
  const [rollingBack, setRollingBack] = useState(false);
  const cases = readCases(data.cases);
  const every = readWrites(session.state?.writes);
  const writes = every.filter(({ state }) => state === "done");
  const takenBack = allTakenBack(every);
  const diff = lines(data.diff);
  const open = readVerdict(data.verdict);
  const link = words(data.link) || session.link;
  const accept = () =>
    answer.mutate({ type: "result_review", accepted: true, save_tests: keeps && cases.length > 0 && saving });
  return (
    <>
      <CardBody>
        {takenBack && (
          <Callout tone="warn" title={t("taken_back")}>
            {t("taken_back_more")}
          </Callout>
        )}
        {open && <VerdictView verdict={open} />}
        {writes.length > 0 ? (
          <ul aria-label={t("writes")} className="flex flex-col gap-1">
            {writes.map((one) => (
              <li key={one.number}>
                <WriteLine {...one} />
              </li>
            ))}
          </ul>
        ) : (
          words(data.summary) && <Markdown text={words(data.summary)} />
        )}
        <PlaceLink link={link} className="self-start">
          {t("open_flow")}
        </PlaceLink>
        <Tabs
          aria-label={t("result")}
          value={tab}
          onChange={setTab}
          tabs={[
            {
              value: "tests",
              label: t("tests"),
              content: (
                <div className="pt-3">
                  <TrialTable trials={list(data.trials).map(readTrial)} cases={cases} />
                </div>
              ),
            },
            {
              value: "diff",
              label: t("changes_count", { count: diff.length }),
              content: (
                <div className="pt-3">
                  {diff.length > 0 ? (
                    <DiffLines lines={diff} label={t("changes")} />
                  ) : (
                    <p className="text-sm text-muted">{t("no_changes")}</p>
                  )}
                </div>
              ),
            },
          ]}
        />
        {keeps && cases.length > 0 && !takenBack && (
          <Answering>
            <Toggle label={t("keep_tests")} help={t("keep_tests_help")} checked={saving} onChange={setSaving} />
          </Answering>
        )}
      </CardBody>
      <CardFoot>
        {asking ? (
          <Feedback
            interrupt={interrupt}
            busy={answer.isPending}
            onSend={(feedback) => answer.mutate({ type: "result_review", accepted: false, feedback })}
            onCancel={cancel}
          />
        ) : (
          <>
            {!takenBack && (
              <Button kind="primary" icon={<Check />} busy={answer.isPending} onClick={accept}>
                {t("accept")}
              </Button>
            )}
            <Button ref={button} disabled={answer.isPending} onClick={ask}>
              {t("ask_for_changes")}
            </Button>
            {session.can_roll_back && (
              <Button
                kind="ghost"
                className="max-sm:hidden"
                icon={<RotateCcw />}
                disabled={answer.isPending}
                onClick={() => setRollingBack(true)}
              >
                {t("roll_back")}
              </Button>
            )}
            {takenBack && (
              <Button
                kind="ghost"
                disabled={answer.isPending}
                onClick={() => answer.mutate({ type: "result_review", accepted: false, feedback: "", stop: true })}
              >
                {t("stop_here")}
              </Button>
            )}
          </>
        )}
      </CardFoot>
      {rollingBack && <RollBack session={session} onClose={() => setRollingBack(false)} />}
    </>
  );
}
