import { useNavigate } from "@tanstack/react-router";
import { Eye, History, Lock, Play, StepForward, Workflow, X } from "lucide-react";
import { Suspense, useState } from "react";
import { Button, EmptyState, IconButton, Problem, Skeleton } from "@/components/ui";
import { useCommands } from "@/lib/commands/commands";
import { useDraft, useDraftStore } from "@/lib/draft";
import { usePanels } from "@/lib/panels";
import { part } from "@/lib/part";
import { useShortcuts } from "@/lib/shortcuts/shortcuts";
import { runStart } from "../model/form";
import { isOver } from "../model/live";
import { useRunTexts } from "../texts";
import { Blocked } from "./Blocked";
import { OfTheDraft } from "./OfTheDraft";
import { RunForm } from "./RunForm";
import { RunNow } from "./RunNow";
import { useCancel } from "./useCancel";
import { useFirstField } from "./useFirstField";
import { usePanelRun } from "./usePanelRun";
import { useReuse } from "./useReuse";

const Chat = part(async () => ({ default: (await import("./Chat")).Chat }));
const LookAhead = part(async () => ({ default: (await import("./LookAhead")).LookAhead }));
const StepDialog = part(async () => ({ default: (await import("../step/StepDialog")).StepDialog }));

/** The run beside the canvas: what it is started with, how it goes, what came of it. It goes on while it is not shown. */
export function RunPanel({ shown }: { shown: boolean }) {
  const t = useRunTexts();
  const panel = usePanelRun();
  const cancel = useCancel();
  const store = useDraftStore();
  const drafts = panel.runs === "draft";
  const empty = useDraft((state) => state.document.order.length === 0) && drafts;
  const [ahead, setAhead] = useState(false);
  const [step, setStep] = useState<string | null>(null);
  const aside = useFirstField(shown, panel.focused);
  const going = panel.followed.live !== null && !isOver(panel.followed.live.status);
  const stop = () => {
    if (panel.runId && going) cancel.mutate(panel.runId);
  };
  const close = () => usePanels.getState().setOpen("run", false);
  const { reuse, reusable } = useReuse(panel);

  useShortcuts({
    run: () => {
      if (panel.chat) panel.focus();
      else panel.submit();
      return true;
    },
    stop: () => {
      stop();
      return true;
    },
  });
  useCommands("runs", () =>
    panel.ready
      ? [
          { id: "run", group: t("runs"), label: t("run"), icon: <Play />, shortcut: "run", run: () => panel.submit() },
          {
            id: "step_through",
            group: t("runs"),
            label: t("step_through"),
            icon: <StepForward />,
            run: () => panel.submit({ kind: "flow", stepThrough: true }),
          },
          { id: "look_ahead", group: t("runs"), label: t("look_ahead"), icon: <Eye />, run: () => setAhead(true) },
          ...(reusable
            ? [{ id: "reuse", group: t("runs"), label: t("reuse"), icon: <History />, run: () => void reuse() }]
            : []),
        ]
      : [],
  );

  const showNode = (id: string) => {
    setAhead(false);
    store.getState().focusNode(id);
  };
  return (
    <>
      {shown && (
        <aside ref={aside} aria-label={t("panel")} className="flex min-h-0 flex-1 flex-col bg-surface">
          <header className="flex h-11 shrink-0 items-center gap-2 border-b border-line pr-2 pl-4">
            <h2 className="font-semibold">{t("panel")}</h2>
            <div className="ml-auto flex items-center gap-1">
              {!panel.chat && !empty && reusable && (
                <Button size="sm" kind="ghost" icon={<History />} onClick={() => void reuse()}>
                  {t("reuse")}
                </Button>
              )}
              <IconButton label={t("close")} onClick={close}>
                <X />
              </IconButton>
            </div>
          </header>
          {empty ? (
            <EmptyState icon={<Workflow />} title={t("empty_flow")}>
              {t("empty_flow_more")}
            </EmptyState>
          ) : (
            <Body panel={panel} going={going} onAhead={() => setAhead(true)} onStep={setStep} />
          )}
        </aside>
      )}
      <Suspense>
        {ahead && (
          <LookAhead
            flowId={panel.flowId}
            start={{ ...runStart(panel.form, panel.values), version: drafts ? "draft" : "published" }}
            onClose={() => setAhead(false)}
            onNode={showNode}
          />
        )}
        {step && panel.followed.live && (
          <StepDialog followed={panel.followed} stepId={step} onClose={() => setStep(null)} />
        )}
      </Suspense>
    </>
  );
}

type Panel = ReturnType<typeof usePanelRun>;

interface BodyProps extends FormAndResultProps {
  going: boolean;
}

/** What can be started here and how it goes; who may start nothing is told why. */
function Body({ panel, going, onAhead, onStep }: BodyProps) {
  const t = useRunTexts();
  const navigate = useNavigate();
  if (panel.runs === "not_allowed" || panel.runs === "unpublished") {
    return (
      <EmptyState icon={<Lock />} title={t(panel.runs)}>
        {t(`${panel.runs}_more`)}
      </EmptyState>
    );
  }
  if (panel.unread) {
    return (
      <div className="p-4">
        <Problem error={panel.unread.error} retry={panel.unread.retry} />
      </div>
    );
  }
  if (!panel.ready) return <Skeleton className="m-4 h-40" />;
  return (
    <>
      <div className="flex shrink-0 flex-col gap-2 empty:hidden [&:not(:empty)]:px-4 [&:not(:empty)]:pt-3">
        {panel.runs === "draft" ? (
          <>
            <Blocked />
            <OfTheDraft />
          </>
        ) : (
          <p className="text-xs text-muted">{t("runs_published", { no: panel.version ?? 0 })}</p>
        )}
      </div>
      {panel.chat ? (
        <Suspense>
          <Chat
            flowId={panel.flowId}
            session={panel.session}
            newest={panel.runId}
            busy={panel.starting || going}
            focused={panel.focused}
            onSend={panel.say}
            onNew={panel.newChat}
            onStep={(runId) =>
              void navigate({ to: "/flows/$flowId/runs/$runId", params: { flowId: panel.flowId, runId } })
            }
          />
        </Suspense>
      ) : (
        <FormAndResult panel={panel} onAhead={onAhead} onStep={onStep} />
      )}
    </>
  );
}

interface FormAndResultProps {
  panel: Panel;
  onAhead: () => void;
  onStep: (stepId: string) => void;
}

function FormAndResult({ panel, onAhead, onStep }: FormAndResultProps) {
  const t = useRunTexts();
  return (
    <div className="min-h-0 flex-1 overflow-y-auto">
      <form
        className="flex flex-col gap-4 px-4 py-3"
        onSubmit={(event) => {
          event.preventDefault();
          panel.submit();
        }}
      >
        <RunForm
          form={panel.form}
          asksText={panel.asksText}
          asksFiles={panel.asksFiles}
          values={panel.values}
          faults={panel.faults}
          onChange={panel.setValues}
          onBusy={panel.setUploading}
        />
        <div className="flex items-center gap-2">
          <Button type="submit" kind="primary" icon={<Play />} busy={panel.starting} disabled={panel.uploading}>
            {t(panel.runId ? "run_again" : "run")}
          </Button>
          <IconButton
            type="button"
            label={t("step_through")}
            disabled={panel.starting || panel.uploading}
            onClick={() => panel.submit({ kind: "flow", stepThrough: true })}
          >
            <StepForward />
          </IconButton>
          <Button icon={<Eye />} onClick={onAhead}>
            {t("look_ahead")}
          </Button>
        </div>
      </form>
      {panel.followed.live && (
        <div className="border-t border-line px-4 py-3">
          <RunNow followed={panel.followed} onStep={onStep} />
        </div>
      )}
    </div>
  );
}
