import type { Message } from "../model/message";
import { newSessionId, readSessions, type Session, withSession, writeSessions } from "../model/sessions";
import type { GetAssistant, SetAssistant } from "./store";

export interface SessionSlice {
  sessionId: string;
  /** Whether this conversation began here and now: nothing of it was there before. */
  fresh: boolean;
  messages: Message[];
  /** The conversations that the browser keeps, this one too once something was said in it. */
  sessions: Session[];
  newSession: () => void;
  loadSession: (id: string) => void;
  deleteSession: (id: string) => void;
  /** Keep the conversation as it is now. */
  keep: () => void;
}

export function createSessionSlice(set: SetAssistant, get: GetAssistant, flowId: string): SessionSlice {
  const kept = readSessions(flowId);
  const current = kept.sessions.find((one) => one.id === kept.current);
  const begin = (session: Session | undefined) => ({
    sessionId: session?.id ?? newSessionId(),
    fresh: !session,
    messages: session?.messages ?? [],
  });
  // A plan that was being refined belongs to the conversation that it was proposed in.
  const open = (session: Session | undefined, sessions: Session[]) => {
    set({ ...begin(session), sessions, stash: null });
    writeSessions(flowId, get().sessionId, sessions);
  };
  return {
    ...begin(current),
    sessions: kept.sessions,
    newSession: () => {
      get().keep();
      open(undefined, get().sessions);
    },
    loadSession: (id) => {
      get().keep();
      const { sessions } = readSessions(flowId);
      const found = sessions.find((one) => one.id === id);
      if (found) open(found, sessions);
    },
    deleteSession: (id) => {
      const sessions = get().sessions.filter((one) => one.id !== id);
      if (id === get().sessionId) {
        open(undefined, sessions);
        return;
      }
      set({ sessions });
      writeSessions(flowId, get().sessionId, sessions);
    },
    keep: () => {
      const { sessionId, messages, templates } = get();
      const sessions = withSession(get().sessions, sessionId, messages, templates(), Date.now());
      set({ sessions });
      writeSessions(flowId, sessionId, sessions);
    },
  };
}
