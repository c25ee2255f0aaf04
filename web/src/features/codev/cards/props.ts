import type { CodevSession, Interrupt } from "@/api/queries/codev";
import type { Proposed } from "../model/history";
import type { Answering } from "./useAnswer";

/** What each card is given: the session, what it waits for, and how to answer. */
export interface CardProps {
  session: CodevSession;
  interrupt: Interrupt;
  answer: Answering;
  /** The plan before, where this is not the first. */
  before: Proposed | undefined;
}
