import {
  AlarmClock,
  ClipboardList,
  Database,
  FileDiff,
  FolderOpen,
  Globe,
  Hand,
  Inbox,
  ListOrdered,
  Mail,
  Plug,
  Radio,
  Rss,
  Workflow,
} from "lucide-react";

/** The icon of each kind of trigger. */
export const KIND_ICONS = {
  schedule: AlarmClock,
  webhook: Globe,
  flow: Workflow,
  event: Radio,
  manual: Hand,
  feed: Rss,
  page: FileDiff,
  folder: FolderOpen,
  rows: Database,
  stream: ListOrdered,
  queue: Inbox,
  mail: Mail,
  api: Plug,
  form: ClipboardList,
};
