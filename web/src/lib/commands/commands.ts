import { type ReactNode, useEffect, useRef } from "react";
import { create } from "zustand";
import type { ShortcutId } from "@/lib/shortcuts/shortcuts";

/** Something that the command palette offers while the place that registered it is open. */
export interface Command {
  id: string;
  group: string;
  label: string;
  /** More words that find it. */
  keywords?: string;
  icon?: ReactNode;
  shortcut?: ShortcutId;
  /** The id of the same command in another place. */
  sameAs?: string;
  /** One of many of its kind: listed once something is typed. */
  searchedOnly?: boolean;
  run: () => void;
}

interface Palette {
  open: boolean;
  sheet: boolean;
  sources: Record<string, () => Command[]>;
  setOpen: (open: boolean) => void;
  setSheet: (sheet: boolean) => void;
}

/** The palette (`open`) and the sheet of shortcuts (`sheet`), and who offers commands. */
export const usePalette = create<Palette>((set) => ({
  open: false,
  sheet: false,
  sources: {},
  setOpen: (open) => set({ open }),
  setSheet: (sheet) => set({ sheet }),
}));

const PATIENCE_MS = 5000;

/** Runs a command as soon as the place that offers it is there: for what is asked for on the way to that place. */
export function runWhenOffered(id: string): void {
  const find = () =>
    Object.values(usePalette.getState().sources)
      .flatMap((source) => source())
      .find((command) => command.id === id);
  const offered = find();
  if (offered) {
    offered.run();
    return;
  }
  const stop = usePalette.subscribe(() => {
    const command = find();
    if (!command) return;
    end();
    command.run();
  });
  const timer = setTimeout(stop, PATIENCE_MS);
  const end = () => {
    clearTimeout(timer);
    stop();
  };
}

/** Offer commands while this component is there. They are asked for when the palette opens. */
export function useCommands(source: string, commands: () => Command[]): void {
  const latest = useRef(commands);
  latest.current = commands;
  useEffect(() => {
    usePalette.setState(({ sources }) => ({ sources: { ...sources, [source]: () => latest.current() } }));
    return () =>
      usePalette.setState(({ sources }) => {
        const { [source]: _gone, ...rest } = sources;
        return { sources: rest };
      });
  }, [source]);
}
