import { create } from "zustand";
import type { FlowEdge } from "@/api/types";
import type { Connecting } from "./compatibility";

export interface Spot {
  x: number;
  y: number;
}

export interface Size {
  width: number;
  height: number;
}

/** Which list of components is open, where on the screen, and what it is for. */
export type Adding =
  | { kind: "node"; screen: Spot | null; at: Spot | null }
  | { kind: "fit"; screen: Spot; at: Spot; from: Connecting }
  | { kind: "insert"; screen: Spot; at: Spot; edgeId: string; edge: FlowEdge };

interface View {
  /** Zoomed out so far that nodes are plain boxes. */
  far: boolean;
  /** Nothing moves or changes by accident. */
  locked: boolean;
  minimap: boolean;
  connecting: Connecting | null;
  adding: Adding | null;
  finding: boolean;
  /** The node whose connection is being made from a list. */
  connectingFrom: string | null;
  /** The node whose name is being written. */
  renaming: string | null;
  /** The nodes that are to become a flow, while its name and how often it runs are asked for. */
  extracting: { ids: string[]; repeat: Repeat } | null;
  /** What others changed a moment ago. */
  fresh: ReadonlySet<string>;
  /** Classes of data by node, as the server reckons them. */
  classes: Readonly<Record<string, number>>;
  /** Nodes whose steps are shown below them, each with the size of the frame. */
  regions: Readonly<Record<string, Size>>;
  /** The node whose steps were asked for a moment ago: the keyboard goes there. */
  entering: string | null;
  set: (part: Partial<Omit<View, "set">>) => void;
}

/** Whether nodes are seen from so far that they are drawn as boxes: later where there are few to draw. */
export const isFar = (zoom: number, nodes: number): boolean => zoom < (nodes > 120 ? 0.4 : 0.2);

/** How often steps run that become a flow: once, for each item of the list that enters them, or until a condition. */
export type Repeat = "once" | "each" | "until";

/** What the canvas shows of itself; nothing of it is part of the flow. */
export const useView = create<View>((set) => ({
  far: false,
  locked: false,
  minimap: true,
  connecting: null,
  adding: null,
  finding: false,
  connectingFrom: null,
  renaming: null,
  extracting: null,
  fresh: new Set(),
  classes: {},
  regions: {},
  entering: null,
  set,
}));
