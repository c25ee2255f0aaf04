import { useCallback, useEffect, useState } from "react";
import type { FormField, RunStart } from "@/api/types";
import { useDraft, useDraftStore } from "@/lib/draft";
import { usePanels } from "@/lib/panels";
import { useRequests } from "@/lib/requests";
import { readStored, writeStored } from "@/lib/storage";
import { EMPTY, type FormValues, faults, runStart } from "../model/form";
import { type Wanted, withPart } from "../model/parts";
import { useRun } from "../model/useRun";
import { useCanvasFeed } from "./useCanvasFeed";
import { useRunnable } from "./useRunnable";
import { useStart } from "./useStart";

const NOTHING: readonly FormField[] = [];
const newSession = () => `chat_${crypto.randomUUID()}`;

/** What the run panel knows and can do: the form's values, the run it shows, starting one. */
export function usePanelRun() {
  const store = useDraftStore();
  const flowId = useDraft((state) => state.flowId);
  const { runs, version, form: asks, chat, files, unread } = useRunnable();
  const form = asks ?? NOTHING;
  const ready = asks !== null && (runs === "draft" || runs === "published");
  const [values, setValues] = useState<FormValues>(EMPTY);
  const [checked, setChecked] = useState(false);
  const [uploading, setUploading] = useState(false);
  const [runId, setRunId] = useState<string | null>(null);
  const sessionKey = `chat.${flowId}`;
  const [session, setSession] = useState(() => readStored<string>(sessionKey, "") || newSession());
  const { start, starting } = useStart();
  const followed = useRun(runId);
  useCanvasFeed(followed.live);

  const begin = useCallback(
    async (wanted: RunStart, part: Wanted) => {
      const { pinned, document } = store.getState();
      const run = await start(
        runs === "published" ? { ...wanted, version: "published" } : withPart(wanted, part, pinned, document.nodes),
      );
      if (run) setRunId(run.id);
      return run !== null;
    },
    [start, store, runs],
  );
  const submit = useCallback(
    (part: Wanted = { kind: "flow" }) => {
      usePanels.getState().setOpen("run", true);
      if (!ready) return;
      setChecked(true);
      if (Object.keys(faults(form, values)).length > 0 || uploading || starting) return;
      void begin(runStart(form, values), part);
    },
    [form, values, uploading, starting, begin, ready],
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
  useEffect(() => {
    if (!request) return;
    useRequests.setState({ run: null });
    if (request.kind === "flow" && chat) usePanels.getState().setOpen("run", true);
    else submit(request);
  }, [request, submit, chat]);

  return {
    flowId,
    runs,
    version,
    ready,
    unread,
    form,
    chat,
    asksFiles: files,
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
