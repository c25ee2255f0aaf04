import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import type { StreamEvent } from "@/api/events";
import { commentKeys } from "@/api/queries/comments";
import { flowKeys } from "@/api/queries/flows";
import { meQuery } from "@/api/queries/me";
import { type Merge, useDraftStore } from "@/lib/draft";
import { announced, usePresence } from "@/lib/presence";
import { tabName, unsavedCopies } from "./copies";
import { followFlow } from "./live";
import { deedsOf, whoDid } from "./notices";
import { useSignedOut } from "./SignedOutBanner";
import { Saver } from "./saver";
import { draftServer } from "./server";
import { type EditingText, useEditingTexts } from "./texts";

const TAB = tabName();
/** What events of a flow carry, each some of it. */
interface LiveMessage {
  revision?: number;
  by?: unknown;
  version?: number;
  release?: number;
  published_version?: number | null;
}

/** Flows that a page left while they were being saved: who opens one again waits for that. */
const leaving = new Map<string, Promise<unknown>>();

/** Saves the open flow, follows what others do to it, and tells of that. */
export function useSaving(tell: (text: string) => void, nested: boolean) {
  const store = useDraftStore();
  const queryClient = useQueryClient();
  const { data: me } = useQuery(meQuery);
  const t = useEditingTexts();
  const said = useRef({ t, tell, myId: me?.user.id });
  said.current = { t, tell, myId: me?.user.id };
  const [ready, setReady] = useState(false);
  const { flowId } = store.getState();

  const [saver] = useState(
    () =>
      new Saver({
        store,
        server: draftServer(flowId),
        copies: unsavedCopies(flowId, TAB),
        onSignedOut: () => useSignedOut.setState({ out: true }),
        onAnswer: (flow) => {
          useSignedOut.setState({ out: false });
          queryClient.setQueryData(flowKeys.one(flowId), flow);
          void queryClient.invalidateQueries({ queryKey: flowKeys.lists, refetchType: "none" });
        },
        nameOf: (by) => whoIn(said.current.t, by, said.current.myId),
        onFollowed: (merge, by) => {
          const { t, tell, myId } = said.current;
          const what = deedsIn(t, merge);
          if (what) tell(`${whoIn(t, by, myId)} ${what}`);
        },
      }),
  );

  const published = useCallback(
    ({ version, release, by }: LiveMessage) => {
      const { t, tell, myId } = said.current;
      store.getState().setPublished(version ?? null);
      void queryClient.invalidateQueries({ queryKey: flowKeys.versions(flowId) });
      if (whoDid(by, myId) === "self") return;
      tell(t("published", { who: whoIn(t, by, myId), version: release ?? version ?? 0 }));
    },
    [store, queryClient, flowId],
  );
  const heard = useCallback(
    ({ event, data }: StreamEvent) => {
      const message = (typeof data === "object" && data !== null ? data : {}) as LiveMessage;
      if (typeof message.revision === "number") void saver.pull(message.revision, message.by);
      const presence = () => announced(event, message as Parameters<typeof announced>[1]);
      const reactions: Record<string, () => void> = {
        deleted: () => store.getState().close("deleted"),
        published: () => published(message),
        unpublished: () => store.getState().setPublished(null),
        comments_changed: () => void queryClient.invalidateQueries({ queryKey: commentKeys.of(flowId) }),
        ...(nested ? {} : { present: presence, left: presence }),
        flow_state: () => store.getState().setPublished(message.published_version ?? null),
      };
      if (Object.hasOwn(reactions, event)) reactions[event]?.();
    },
    [saver, store, published, queryClient, flowId, nested],
  );

  useEffect(() => {
    const aborter = new AbortController();
    let stop: (() => Promise<boolean>) | undefined;
    const begin = () => {
      if (aborter.signal.aborted) return;
      stop = saver.start();
      setReady(true);
      const onEnd = (status: number) => {
        if (status === 401) useSignedOut.setState({ out: true });
        else store.getState().close(status === 403 ? "forbidden" : "deleted");
      };
      void followFlow({ flowId, signal: aborter.signal, onEvent: heard, onEnd });
    };
    const before = leaving.get(flowId);
    if (before) void before.finally(begin);
    else begin();
    return () => {
      aborter.abort();
      if (!nested) {
        usePresence.setState({ readers: {} });
        useSignedOut.setState({ out: false });
      }
      if (stop)
        leaving.set(
          flowId,
          stop().finally(() => leaving.delete(flowId)),
        );
    };
  }, [saver, store, flowId, heard, nested]);

  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => {
      const kept = useSignedOut.getState().out && unsavedCopies(flowId, TAB).left()?.tab === TAB;
      if (saver.dirty && !kept) event.preventDefault();
    };
    const leave = () => saver.leave();
    window.addEventListener("beforeunload", warn);
    window.addEventListener("pagehide", leave);
    return () => {
      window.removeEventListener("beforeunload", warn);
      window.removeEventListener("pagehide", leave);
    };
  }, [saver, flowId]);

  return { ready, tab: TAB };
}

function whoIn(t: EditingText, by: unknown, myId: string | undefined): string {
  const who = whoDid(by, myId);
  return who === "self" ? t("self") : who === "unknown" ? t("somebody") : who.name;
}

function deedsIn(t: EditingText, merge: Merge): string {
  const deeds = deedsOf(merge).slice(0, 2);
  return deeds.map(({ did, count }) => t(did, { count })).join(t("and"));
}
