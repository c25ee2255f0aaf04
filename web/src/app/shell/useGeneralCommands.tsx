import { useNavigate } from "@tanstack/react-router";
import {
  AlarmClock,
  ChartNoAxesColumn,
  Hammer,
  History,
  Inbox,
  Keyboard,
  Languages,
  LayoutTemplate,
  Plus,
  Settings,
  SunMoon,
  Workflow,
} from "lucide-react";
import { useRights } from "@/api/rights";
import { useAppearance } from "@/lib/appearance/appearance";
import { useCommands, usePalette } from "@/lib/commands/commands";
import { i18next, setLanguage } from "@/lib/i18n/i18n";
import { useAppTexts } from "../texts";
import { useNewFlow } from "./useNewFlow";

const PLACES = [
  { to: "/", text: "flows", icon: Workflow },
  { to: "/templates", text: "templates", icon: LayoutTemplate },
  { to: "/runs", text: "runs", icon: History },
  { to: "/triggers", text: "triggers", icon: AlarmClock },
  { to: "/inbox/{-$approvalId}", text: "inbox", icon: Inbox, keywords: "inbox_words" },
  { to: "/develop", text: "development", icon: Hammer },
  { to: "/observe", text: "observe", icon: ChartNoAxesColumn },
  { to: "/settings/{-$section}", text: "settings", icon: Settings },
] as const;

/** What can be done from everywhere. */
export function useGeneralCommands(): void {
  const t = useAppTexts();
  const navigate = useNavigate();
  const { may } = useRights();
  const makeFlow = useNewFlow();
  const { setTheme } = useAppearance.getState();
  useCommands("general", () => [
    ...PLACES.map(({ to, text, icon: Icon, ...more }) => ({
      id: `go.${text}`,
      group: t("go_to"),
      label: t(text),
      ...("keywords" in more ? { keywords: t(more.keywords) } : {}),
      icon: <Icon />,
      run: () => void navigate({ to }),
    })),
    ...(may("flows.edit")
      ? [
          {
            id: "general.new",
            group: t("general"),
            label: t("new_flow"),
            keywords: t("new_flow_words"),
            icon: <Plus />,
            run: makeFlow,
          },
        ]
      : []),
    {
      id: "general.develop",
      group: t("general"),
      label: t("develop_new"),
      keywords: "develop agent utveckla",
      icon: <Hammer />,
      run: () => void navigate({ to: "/develop/new" }),
    },
    {
      id: "general.theme",
      group: t("general"),
      label: useAppearance.getState().dark ? t("to_light") : t("to_dark"),
      keywords: t("theme"),
      icon: <SunMoon />,
      run: () => setTheme(useAppearance.getState().dark ? "light" : "dark"),
    },
    {
      id: "general.language",
      group: t("general"),
      label: t("other_language"),
      keywords: "language språk english svenska",
      icon: <Languages />,
      run: () => void setLanguage(i18next.language === "sv" ? "en" : "sv"),
    },
    {
      id: "general.shortcuts",
      group: t("general"),
      label: t("shortcuts"),
      icon: <Keyboard />,
      shortcut: "shortcuts",
      run: () => usePalette.getState().setSheet(true),
    },
  ]);
}
