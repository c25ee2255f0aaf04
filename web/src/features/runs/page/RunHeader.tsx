import { Link } from "@tanstack/react-router";
import { ArrowLeft, Download, FlaskConical, ListRestart, RotateCcw, Square } from "lucide-react";
import { useRights } from "@/api/rights";
import type { RunOut } from "@/api/types";
import { Button, Menu } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import { dateTime } from "@/lib/i18n/format";
import { isOver, type LiveRun } from "../model/live";
import { partWords } from "../model/partWords";
import { useNames } from "../model/useNames";
import { useRerunnable } from "../model/useRerunnable";
import { PauseButton } from "../panel/PauseButton";
import { RunFigures } from "../panel/RunFigures";
import { useCancel } from "../panel/useCancel";
import { useRunTexts } from "../texts";
import { CompareWith } from "./CompareRuns";
import { useResume } from "./useResume";

interface RunHeaderProps {
  flowId: string;
  run: RunOut;
  live: LiveRun;
  onRerun: () => void;
  onCompare: (runId: string) => void;
}

/** When a run was, how it stands, and what can be done with it. */
export function RunHeader({ flowId, run, live, onRerun, onCompare }: RunHeaderProps) {
  const t = useRunTexts();
  const cancel = useCancel();
  const resume = useResume(run);
  const over = isOver(live.status);
  const { may } = useRights();
  const spaceId = useDraft((state) => state.spaceId);
  const runs = may("runs.start", spaceId);
  const again = useRerunnable(run);
  const evidence = `/api/v1/flow-runs/${run.id}/evidence`;
  const names = useNames(run.steps);
  const about = [
    t("version", { no: run.version }),
    partWords(run, t, names),
    run.source_run_id ? t("built_on") : "",
    run.deadline_at && !over ? t("deadline", { when: dateTime(run.deadline_at) }) : "",
  ];
  return (
    <header className="flex flex-wrap items-center gap-x-4 gap-y-2">
      <div className="min-w-0 flex-1">
        <Link
          to="/flows/$flowId/runs"
          params={{ flowId }}
          className="inline-flex items-center gap-1 text-sm text-muted hover:text-ink"
        >
          <ArrowLeft className="size-3.5" />
          {t("back")}
        </Link>
        <h2 className="mt-1 text-lg font-semibold">{dateTime(run.created_at)}</h2>
        <div className="mt-1 flex flex-wrap items-center gap-x-3">
          <RunFigures live={live} />
          <span className="text-sm text-muted">{about.filter(Boolean).join(" · ")}</span>
        </div>
      </div>
      <div className="flex flex-wrap items-center gap-2">
        {runs && !over && <PauseButton live={live} />}
        {runs && !over && (
          <Button kind="danger" icon={<Square />} busy={cancel.isPending} onClick={() => cancel.mutate(run.id)}>
            {t("stop")}
          </Button>
        )}
        {again && live.status === "failed" && (
          <Button
            kind="primary"
            icon={<RotateCcw />}
            title={t("resume_help")}
            busy={resume.isPending}
            onClick={() => resume.mutate()}
          >
            {t("resume")}
          </Button>
        )}
        {again && over && (
          <Button icon={<ListRestart />} onClick={onRerun}>
            {t("rerun")}
          </Button>
        )}
        {over && may("flows.edit", spaceId) && (
          <Link
            to="/flows/$flowId/tests"
            params={{ flowId }}
            search={{ from: run.id }}
            className="inline-flex h-8 items-center gap-2 rounded-md border border-line-strong bg-raised px-3 font-medium shadow-low hover:bg-hover"
          >
            <FlaskConical aria-hidden className="size-4" />
            {t("keep_as_test")}
          </Link>
        )}
        <CompareWith run={run} onChoose={onCompare} />
        <Menu
          items={[
            {
              id: "zip",
              label: t("evidence_zip"),
              onSelect: () => download(`${evidence}?format=zip`, `${run.id}.zip`),
            },
            { id: "json", label: t("evidence_json"), onSelect: () => download(evidence, `${run.id}.json`) },
          ]}
        >
          <Button icon={<Download />}>{t("evidence")}</Button>
        </Menu>
      </div>
    </header>
  );
}

function download(address: string, name: string): void {
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
}
