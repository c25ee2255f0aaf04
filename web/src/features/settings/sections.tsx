import {
  Archive,
  Bot,
  Brain,
  Cable,
  FolderOpen,
  FolderSync,
  Gauge,
  Info,
  Keyboard,
  KeyRound,
  LockKeyhole,
  type LucideIcon,
  Package,
  Palette,
  Plug,
  ScrollText,
  Server,
  ServerCog,
  UserRound,
  Users,
  Variable,
} from "lucide-react";
import type { ComponentType } from "react";
import type { useRights } from "@/api/rights";
import { part } from "@/lib/part";
import type { SettingsText } from "./texts";

type Rights = ReturnType<typeof useRights>;

/** The keys belong to the installation, which admins of its first organisation manage. */
const FIRST_ORGANISATION_ID = "00000000-0000-7000-8000-000000000001";

export interface SettingsSection {
  id: string;
  /** The heading above it in the list; sections of a group are adjacent. */
  group: SettingsText;
  label: SettingsText;
  icon: LucideIcon;
  /** Whether the person is shown it; everybody is where nothing is said. */
  may?: (may: Rights["may"], me: Rights["me"]) => boolean;
  Content: ComponentType;
}

const section = <K extends string>(load: () => Promise<Record<K, ComponentType>>, name: K) =>
  part(async () => ({ default: (await load())[name] }));

/** The sections, in the order of the list; each comes when it is opened. */
export const SECTIONS: readonly SettingsSection[] = [
  {
    id: "models",
    group: "group_building",
    label: "models",
    icon: Brain,
    Content: section(() => import("./providers/ProvidersSection"), "ProvidersSection"),
  },
  {
    id: "connections",
    group: "group_building",
    label: "connections",
    icon: Cable,
    may: (may) => may("connections.view"),
    Content: section(() => import("./connections/ConnectionsSection"), "ConnectionsSection"),
  },
  {
    id: "variables",
    group: "group_building",
    label: "variables",
    icon: Variable,
    may: (may) => may("variables.view"),
    Content: section(() => import("./variables/VariablesSection"), "VariablesSection"),
  },
  {
    id: "mcp",
    group: "group_building",
    label: "mcp",
    icon: Plug,
    may: (may) => may("mcp_servers.view"),
    Content: section(() => import("./mcp/McpSection"), "McpSection"),
  },
  {
    id: "flowise",
    group: "group_building",
    label: "flowise",
    icon: Server,
    may: (may) => may("variables.view"),
    Content: section(() => import("./flowise/FlowiseSection"), "FlowiseSection"),
  },
  {
    id: "assistants",
    group: "group_building",
    label: "assistants",
    icon: Bot,
    may: (may) => may("assistants.view"),
    Content: section(() => import("./assistants/AssistantsSection"), "AssistantsSection"),
  },
  {
    id: "files",
    group: "group_building",
    label: "files",
    icon: FolderOpen,
    may: (may) => may("workspace.use"),
    Content: section(() => import("./files/FilesSection"), "FilesSection"),
  },
  {
    id: "keys",
    group: "group_building",
    label: "keys",
    icon: KeyRound,
    Content: section(() => import("./keys/KeysSection"), "KeysSection"),
  },
  {
    id: "members",
    group: "organisation",
    label: "members",
    icon: Users,
    Content: section(() => import("./members/MembersSection"), "MembersSection"),
  },
  {
    id: "directory",
    group: "organisation",
    label: "directory",
    icon: FolderSync,
    may: (may) => may("directory.manage"),
    Content: section(() => import("./directory/DirectorySection"), "DirectorySection"),
  },
  {
    id: "keyring",
    group: "organisation",
    label: "keyring",
    icon: LockKeyhole,
    may: (may, me) => may("keyring.manage") && me?.tenant.id === FIRST_ORGANISATION_ID,
    Content: section(() => import("./keyring/KeyringSection"), "KeyringSection"),
  },
  {
    id: "processes",
    group: "organisation",
    label: "processes",
    icon: ServerCog,
    may: (may, me) => may("maintenance.run") && me?.tenant.id === FIRST_ORGANISATION_ID,
    Content: section(() => import("./processes/ProcessesSection"), "ProcessesSection"),
  },
  {
    id: "packs",
    group: "organisation",
    label: "packs",
    icon: Package,
    may: (may, me) => may("packs.manage") && me?.tenant.id === FIRST_ORGANISATION_ID,
    Content: section(() => import("./packs/PacksSection"), "PacksSection"),
  },
  {
    id: "audit",
    group: "organisation",
    label: "audit",
    icon: ScrollText,
    may: (may) => may("audit.view"),
    Content: section(() => import("./audit/AuditSection"), "AuditSection"),
  },
  {
    id: "limits",
    group: "organisation",
    label: "limits",
    icon: Gauge,
    may: (may) => may("quotas.manage"),
    Content: section(() => import("./limits/LimitsSection"), "LimitsSection"),
  },
  {
    id: "retention",
    group: "organisation",
    label: "retention",
    icon: Archive,
    may: (may) => may("maintenance.run"),
    Content: section(() => import("./retention/RetentionSection"), "RetentionSection"),
  },
  {
    id: "account",
    group: "group_personal",
    label: "account",
    icon: UserRound,
    Content: section(() => import("./account/AccountSection"), "AccountSection"),
  },
  {
    id: "appearance",
    group: "group_personal",
    label: "appearance",
    icon: Palette,
    Content: section(() => import("./appearance/AppearanceSection"), "AppearanceSection"),
  },
  {
    id: "shortcuts",
    group: "group_personal",
    label: "shortcuts",
    icon: Keyboard,
    Content: section(() => import("./shortcuts/ShortcutsSection"), "ShortcutsSection"),
  },
  {
    id: "about",
    group: "group_personal",
    label: "about",
    icon: Info,
    Content: section(() => import("./about/AboutSection"), "AboutSection"),
  },
];
