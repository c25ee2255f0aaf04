import { Bell, Bot, Braces, Database, FolderOpen, KeyRound, type LucideIcon, Mail, Webhook } from "lucide-react";
import type { ConnectionKind } from "@/api/queries/connections";

const OF_CATEGORY: Record<ConnectionKind["category"], LucideIcon> = {
  api: KeyRound,
  oauth: Braces,
  mail: Mail,
  data: Database,
  files: FolderOpen,
  ai: Bot,
  other: Bell,
};

/** The picture of a kind. */
export function KindIcon({ kind, className }: { kind: ConnectionKind | undefined; className?: string }) {
  const Icon = kind?.id === "webhook_secret" ? Webhook : kind ? OF_CATEGORY[kind.category] : KeyRound;
  return <Icon aria-hidden className={className} />;
}
