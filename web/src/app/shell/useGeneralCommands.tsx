import { useNavigate } from "@tanstack/react-router";
import { BellRing, Gauge, Hammer, Hourglass, Keyboard, Languages, Plus, Star, SunMoon, Trash2 } from "lucide-react";
import { useRights } from "@/api/rights";
import { useAppearance } from "@/lib/appearance/appearance";
import { useCommands, usePalette } from "@/lib/commands/commands";
import { i18next, setLanguage } from "@/lib/i18n/i18n";
import { PLACES } from "../places";
import { useAppTexts } from "../texts";
import { useNewFlow } from "./useNewFlow";

/** Parts of the first page. */
const LISTS = [
  { show: "favourites", icon: Star },
  { show: "trash", icon: Trash2 },
] as const;

/** What can be done from everywhere. */
export function useGeneralCommands(): void {
  const t = useAppTexts();
  const navigate = useNavigate();
  const { may } = useRights();
  const makeFlow = useNewFlow();
  const { setTheme } = useAppearance.getState();
  useCommands("general", () => [
    ...PLACES.map(({ id, to, text, icon: Icon, ...more }) => ({
      id: `go.${id}`,
      group: t("go_to"),
      label: t(text),
      ...("words" in more ? { keywords: t(more.words) } : {}),
      icon: <Icon />,
      run: () => void navigate({ to }),
    })),
    {
      id: "go.alerts",
      group: t("go_to"),
      label: t("alerts"),
      icon: <BellRing />,
      run: () => void navigate({ to: "/alerts" }),
    },
    {
      id: "go.queue",
      group: t("go_to"),
      label: t("queue"),
      icon: <Hourglass />,
      run: () => void navigate({ to: "/queue" }),
    },
    {
      id: "go.service-levels",
      group: t("go_to"),
      label: t("service_levels"),
      icon: <Gauge />,
      run: () => void navigate({ to: "/service-levels" }),
    },
    ...LISTS.map(({ show, icon: Icon }) => ({
      id: `go.${show}`,
      group: t("go_to"),
      label: t(show),
      keywords: t("flows"),
      icon: <Icon />,
      searchedOnly: true,
      run: () => void navigate({ to: "/", search: { show } }),
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
