import {
  AlarmClock,
  BookOpen,
  ChartNoAxesColumn,
  Hammer,
  History,
  Inbox,
  LayoutTemplate,
  type LucideIcon,
  MessageCircle,
  Settings,
  Workflow,
} from "lucide-react";
import type { AppTextKey } from "./texts";

interface Place {
  /** The first word of its address; empty for the first page. */
  id: string;
  to: string;
  /** Its name where there is room: titles, the command palette. */
  text: AppTextKey;
  /** The first words of other addresses that belong to it. */
  also?: readonly string[];
  /** A shorter name below the icon. */
  short?: AppTextKey;
  /** More words that find it. */
  words?: AppTextKey;
  icon: LucideIcon;
  /** What waits there for the user is counted. */
  counts?: "approvals" | "attention" | "sessions";
  /** It is in the bar of a narrow screen; the others are in the sheet "More". */
  primary?: boolean;
}

/** Every place of the studio, in the order of the navigation. The bar, the palette and the titles are made from it. */
export const PLACES = [
  { id: "", to: "/", text: "flows", icon: Workflow, primary: true },
  { id: "templates", to: "/templates", text: "templates", icon: LayoutTemplate },
  { id: "runs", to: "/runs", text: "runs", icon: History, primary: true },
  {
    id: "inbox",
    to: "/inbox/{-$approvalId}",
    text: "inbox",
    words: "inbox_words",
    icon: Inbox,
    counts: "approvals",
    primary: true,
  },
  { id: "chat", to: "/chat", text: "chat", icon: MessageCircle },
  { id: "triggers", to: "/triggers", text: "triggers", icon: AlarmClock },
  { id: "knowledge", to: "/knowledge/{-$baseId}", text: "knowledge", words: "knowledge_words", icon: BookOpen },
  {
    id: "develop",
    to: "/develop",
    text: "development",
    short: "develop",
    icon: Hammer,
    counts: "sessions",
    primary: true,
  },
  {
    id: "observe",
    to: "/observe",
    text: "observe",
    icon: ChartNoAxesColumn,
    counts: "attention",
    also: ["alerts", "queue", "service-levels"],
  },
  { id: "settings", to: "/settings/{-$section}", text: "settings", icon: Settings },
] as const satisfies readonly Place[];

export type StudioPlace = (typeof PLACES)[number];

/** The name of a place below its icon. */
export const shortText = (place: StudioPlace): AppTextKey => ("short" in place ? place.short : place.text);

/** What the place of an address is called; none for an open flow, which has its own name. */
export const placeOf = (id: string): StudioPlace | undefined => PLACES.find((place) => place.id === id);

/** Whether the first word of an address is another one of a place: its own is active by its link. */
export const alsoHolds = (place: StudioPlace, first: string): boolean =>
  "also" in place && place.also.some((id) => id === first);
