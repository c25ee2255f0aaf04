import {
  Bot,
  Box,
  Braces,
  Brain,
  Calculator,
  CalendarClock,
  ChartColumn,
  ClipboardList,
  Cloud,
  Code,
  Combine,
  Database,
  FileDown,
  FileJson,
  FileText,
  FileType,
  Filter,
  Folder,
  GitFork,
  GitMerge,
  Globe,
  History,
  Image,
  Link,
  type LucideIcon,
  MessageCircle,
  MessageSquareReply,
  Mic,
  Package,
  Paperclip,
  Plug,
  Regex,
  Repeat,
  Scissors,
  Search,
  Send,
  Sparkles,
  Split,
  SquareDashed,
  StickyNote,
  Table,
  TableProperties,
  Terminal,
  Timer,
  Type,
  Webhook,
} from "lucide-react";

/** The icons that components of Headgate name; a component of somebody else's with another one gets a box. */
const ICONS: Record<string, LucideIcon> = {
  "bar-chart": ChartColumn,
  bot: Bot,
  braces: Braces,
  brain: Brain,
  calculator: Calculator,
  "calendar-clock": CalendarClock,
  "clipboard-list": ClipboardList,
  cloud: Cloud,
  code: Code,
  combine: Combine,
  database: Database,
  "file-down": FileDown,
  "file-json": FileJson,
  "file-text": FileText,
  "file-type": FileType,
  filter: Filter,
  folder: Folder,
  "git-fork": GitFork,
  "git-merge": GitMerge,
  globe: Globe,
  group: SquareDashed,
  history: History,
  image: Image,
  link: Link,
  "message-circle": MessageCircle,
  "message-square-reply": MessageSquareReply,
  mic: Mic,
  package: Package,
  paperclip: Paperclip,
  plug: Plug,
  regex: Regex,
  repeat: Repeat,
  scissors: Scissors,
  search: Search,
  send: Send,
  sparkles: Sparkles,
  split: Split,
  "square-dashed": SquareDashed,
  "sticky-note": StickyNote,
  table: Table,
  "table-properties": TableProperties,
  terminal: Terminal,
  timer: Timer,
  type: Type,
  webhook: Webhook,
};

interface ComponentIconProps {
  /** The name in the component's template. */
  name: string | undefined;
  className?: string;
  x?: number;
  y?: number;
  width?: number;
  height?: number;
}

/** The icon of a kind of component. */
export function ComponentIcon({ name, ...rest }: ComponentIconProps) {
  const Icon = ICONS[name ?? ""] ?? Box;
  return <Icon aria-hidden {...rest} />;
}
