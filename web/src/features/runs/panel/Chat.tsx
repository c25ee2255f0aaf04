import { useQuery } from "@tanstack/react-query";
import { ArrowUp, MessageCircle, MessageSquarePlus, Square } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { newestRunsQuery } from "@/api/queries/runs";
import { FileAnswer } from "@/components/files/FileAnswer";
import { FileLink } from "@/components/files/FileLink";
import { Markdown } from "@/components/markdown/Markdown";
import { Button, Callout, EmptyState, IconButton, Spinner, Textarea } from "@/components/ui";
import { ValueView } from "@/components/values/ValueView";
import { sampleOf } from "@/lib/sample";
import { isOver } from "../model/live";
import { useRun } from "../model/useRun";
import { useRunTexts } from "../texts";
import { useCancel } from "./useCancel";

interface ChatProps {
  flowId: string;
  session: string;
  /** The run of the newest message, which the list may not have yet. */
  newest: string | null;
  busy: boolean;
  onSend: (text: string, files: string[]) => Promise<boolean>;
  onNew: () => void;
  onStep: (runId: string) => void;
}

/** A conversation with the flow: each message is a run of the same session. */
export function Chat({ flowId, session, newest, busy, onSend, onNew, onStep }: ChatProps) {
  const t = useRunTexts();
  const { data } = useQuery(newestRunsQuery({ flow_id: flowId, session_id: session }, 30));
  const known = (data ?? []).map((run) => run.id).reverse();
  const turns = newest && !known.includes(newest) ? [...known, newest] : known;
  const [text, setText] = useState(() => sampleOf(flowId)?.text ?? "");
  const [files, setFiles] = useState<string[]>([]);
  const [attaching, setAttaching] = useState(false);
  const [uploading, setUploading] = useState(false);
  const send = async () => {
    if (!text.trim() && files.length === 0) return;
    const kept = { text, files };
    setText("");
    setFiles([]);
    setAttaching(false);
    if (!(await onSend(kept.text, kept.files))) {
      setText(kept.text);
      setFiles(kept.files);
    }
  };
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <section aria-label={t("message")} className="flex min-h-0 flex-1 flex-col-reverse overflow-y-auto px-3 py-3">
        <div className="flex flex-col gap-3">
          {turns.length === 0 && (
            <EmptyState icon={<MessageCircle />} title={t("chat_empty")}>
              {t("chat_empty_more")}
            </EmptyState>
          )}
          {turns.map((id) => (
            <Turn key={id} runId={id} onOpen={() => onStep(id)} />
          ))}
        </div>
      </section>
      <form
        className="flex flex-col gap-2 border-t border-line p-3"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        {attaching && (
          <FileAnswer ids={files} onChange={(change) => setFiles((before) => change(before))} onBusy={setUploading} />
        )}
        <Textarea
          aria-label={t("message")}
          placeholder={t("say_something")}
          rows={2}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
            event.preventDefault();
            if (!busy && !uploading) void send();
          }}
        />
        <div className="flex items-center gap-2">
          <Button size="sm" kind="ghost" icon={<MessageSquarePlus />} onClick={onNew} disabled={turns.length === 0}>
            {t("new_chat")}
          </Button>
          <Button size="sm" kind="ghost" aria-expanded={attaching} onClick={() => setAttaching(!attaching)}>
            {t("attach")}
          </Button>
          <Button
            type="submit"
            size="sm"
            kind="primary"
            icon={<ArrowUp />}
            className="ml-auto"
            busy={busy}
            disabled={uploading}
          >
            {t("send")}
          </Button>
        </div>
      </form>
    </div>
  );
}

function Turn({ runId, onOpen }: { runId: string; onOpen: () => void }) {
  const t = useRunTexts();
  const { run, live, connection } = useRun(runId);
  const cancel = useCancel();
  const end = useRef<HTMLDivElement>(null);
  const going = live !== null && !isOver(live.status);
  const said = live?.speaking ? (live.steps[live.speaking]?.preview ?? "") : "";
  useEffect(() => {
    if (going) end.current?.scrollIntoView({ block: "end" });
  }, [going]);
  return (
    <div ref={end} className="flex flex-col gap-2">
      {run && (
        <div className="flex max-w-[85%] flex-col gap-2 self-end rounded-lg bg-accent-soft px-3 py-2">
          {run.input.text && <p className="whitespace-pre-wrap break-words">{run.input.text}</p>}
          {run.input.file_ids.map((id) => (
            <FileLink key={id} id={id} />
          ))}
        </div>
      )}
      <div className="flex max-w-[92%] flex-col items-start gap-1 self-start">
        {going && (
          <div className="flex items-start gap-2">
            <div className="min-w-0 rounded-lg bg-raised px-3 py-2 shadow-low">
              {said ? <Markdown text={said} /> : <Spinner />}
            </div>
            <IconButton size="sm" label={t("stop")} onClick={() => cancel.mutate(runId)}>
              <Square />
            </IconButton>
          </div>
        )}
        {run && live?.status === "completed" && <Reply output={run.output} otherwise={said} />}
        {live?.status === "failed" && (
          <Callout tone="bad" title={t("failed")}>
            {live.error}
          </Callout>
        )}
        {live?.status === "cancelled" && <p className="text-sm text-muted">{t("cancelled")}</p>}
        {connection === "reconnecting" && <p className="text-xs text-warn">{t("reconnecting")}</p>}
        <button type="button" className="px-1 text-xs text-muted hover:text-ink hover:underline" onClick={onOpen}>
          {t("steps")}
        </button>
      </div>
    </div>
  );
}

function Reply({ output, otherwise }: { output: Record<string, unknown> | null; otherwise: string }) {
  const value = firstOutput(output) ?? output?.text ?? otherwise;
  return (
    <div className="min-w-0 max-w-full rounded-lg bg-raised px-3 py-2 shadow-low">
      <ValueView value={value} />
    </div>
  );
}

function firstOutput(output: Record<string, unknown> | null): unknown {
  const steps = Object.values(
    (output?.outputs ?? {}) as Record<string, { main?: string; outputs?: Record<string, unknown> }>,
  );
  const last = steps.at(-1);
  return last?.outputs?.[last.main ?? ""];
}
