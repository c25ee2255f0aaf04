import { useCallback, useEffect, useState } from "react";
import { useRights } from "@/api/rights";
import type { FormField, RunStart } from "@/api/types";
import { breakpointsOf } from "@/lib/breakpoints";
import { useDraft, useDraftStore } from "@/lib/draft";
import { usePanels } from "@/lib/panels";
import { useRequests } from "@/lib/requests";
import { forgetSample, sampleOf } from "@/lib/sample";
import { readStored, writeStored } from "@/lib/storage";
import { EMPTY, type FormValues, faults, runStart, valuesOf } from "../model/form";
import { type Wanted, withPart } from "../model/parts";
import { useRun } from "../model/useRun";
import { useCanvasFeed } from "./useCanvasFeed";
import { useLastRun } from "./useLastRun";
import { useRunnable } from "./useRunnable";
import { useStart } from "./useStart";

const NOTHING: readonly FormField[] = [];
const newSession = () => `chat_${crypto.randomUUID()}`;

/** What the run panel knows and can do: the form's values, the run it shows, starting one. */
export function usePanelRun() {
  const store = useDraftStore();
  const flowId = useDraft((state) => state.flowId);
  const { runs, version, form: asks, chat, text, files, unread } = useRunnable();
  const form = asks ?? NOTHING;
  const ready = asks !== null && (runs === "draft" || runs === "published");
  const [values, setValues] = useState<FormValues>(EMPTY);
  // The form of the flow comes a moment later than the panel.
  const [sampled, setSampled] = useState(false);
  if (ready && !sampled) {
    setSampled(true);
    const sample = sampleOf(flowId);
    if (sample) setValues(valuesOf(form, sample));
  }
  const [checked, setChecked] = useState(false);
  const [uploading, setUploading] = useState(false);
  const [runId, setRunId] = useState<string | null>(null);
  const sessionKey = `chat.${flowId}`;
  const [session, setSession] = useState(() => readStored<string>(sessionKey, "") || newSession());
  const { start, starting } = useStart();
  const followed = useRun(runId);
  useCanvasFeed(followed.live);
  useLastRun(flowId, runId, runs === "draft");

  const begin = useCallback(
    async (wanted: RunStart, part: Wanted) => {
      const { pinned, document } = store.getState();
      const stops = { stop_before: breakpointsOf(store.getState()), step_through: part.stepThrough ?? false };
      const run = await start(
        runs === "published"
          ? { ...wanted, version: "published", step_through: stops.step_through }
          : { ...withPart(wanted, part, pinned, document.nodes), ...stops },
      );
      if (run) {
        if (runs === "draft") store.getState().setRan({ runId: run.id, nodes: document.nodes, edges: document.edges });
        setRunId(run.id);
        forgetSample(flowId);
      }
      return run !== null;
    },
    [start, store, runs, flowId],
  );
  const submit = useCallback(
    (part: Wanted = { kind: "flow" }) => {
      usePanels.getState().setOpen("run", true);
      if (!ready || (runs === "draft" && store.getState().document.order.length === 0)) return;
      setChecked(true);
      if (Object.keys(faults(form, values)).length > 0 || uploading || starting) return;
      void begin(runStart(form, values), part);
    },
    [form, values, uploading, starting, begin, ready, runs, store],
  );
  const say = useCallback(
    (text: string, files: string[]) => {
      writeStored(sessionKey, session);
      return begin({ ...runStart([], EMPTY), text, file_ids: files, session_id: session }, { kind: "flow" });
    },
    [begin, session, sessionKey],
  );
  const newChat = () => {
    const next = newSession();
    writeStored(sessionKey, next);
    setSession(next);
    setRunId(null);
  };

  const request = useRequests((state) => state.run);
  const { me } = useRights();
  const [focused, setFocused] = useState(0);
  const blocked = useDraft((state) => state.issues.some((issue) => issue.severity !== "warning"));
  const focus = useCallback((at: number = Date.now()) => {
    usePanels.getState().setOpen("run", true);
    setFocused(at);
  }, []);
  const asksSomething = form.length > 0 || text || files;
  useEffect(() => {
    if (!request || !me || (asks === null && runs === "published")) return;
    useRequests.setState({ run: null });
    const { kind, nodeId } = request;
    const shows = kind === "ready" ? chat || asksSomething || blocked : kind === "flow" && chat;
    if (shows) focus(request.at);
    else submit(kind === "ready" || kind === "flow" ? { kind: "flow" } : { kind, nodeId });
  }, [request, me, submit, focus, chat, asksSomething, blocked, asks, runs]);

  return {
    flowId,
    runs,
    version,
    ready,
    unread,
    form,
    chat,
    asksText: text,
    asksFiles: files,
    /** When the first field was last to be focused, as a time; 0 before. */
    focused,
    focus,
    values,
    setValues,
    faults: checked ? faults(form, values) : {},
    uploading,
    setUploading,
    starting,
    followed,
    setRunId,
    submit,
    session,
    say,
    newChat,
    runId,
  };
}
