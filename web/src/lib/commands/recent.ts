import { readStored, writeStored } from "@/lib/storage";

export interface RecentFlow {
  id: string;
  name: string;
}

const COMMANDS = "palette.commands";
const FLOWS = "palette.flows";
const MOST = 5;

/** Ids of the commands that were used last, newest first. */
export const recentCommands = (): string[] => readStored<string[]>(COMMANDS, []).filter((id) => typeof id === "string");

/** The flows that were opened last, newest first. */
export const recentFlows = (): RecentFlow[] =>
  readStored<RecentFlow[]>(FLOWS, []).filter((one) => typeof one?.id === "string" && typeof one.name === "string");

export function rememberCommand(id: string): void {
  writeStored(COMMANDS, [id, ...recentCommands().filter((one) => one !== id)].slice(0, MOST));
}

export function rememberFlow(flow: RecentFlow): void {
  writeStored(FLOWS, [flow, ...recentFlows().filter((one) => one.id !== flow.id)].slice(0, MOST));
}

/** A flow that is gone is not offered any more. */
export function forgetFlow(id: string): void {
  writeStored(
    FLOWS,
    recentFlows().filter((one) => one.id !== id),
  );
}
