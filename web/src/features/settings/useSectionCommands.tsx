import { useNavigate } from "@tanstack/react-router";
import { useRights } from "@/api/rights";
import type { Command } from "@/lib/commands/commands";
import { SECTIONS } from "./sections";
import { useSettingsTexts } from "./texts";

/** The sections of the settings that this user sees, as commands that open them. */
export function useSectionCommands(): Command[] {
  const t = useSettingsTexts();
  const navigate = useNavigate();
  const { me, may } = useRights();
  return SECTIONS.filter((section) => section.may?.(may, me) ?? true).map(({ id, label, group, icon: Icon }) => ({
    id: `settings.${id}`,
    group: t("settings"),
    label: t(label),
    keywords: t(group),
    icon: <Icon />,
    searchedOnly: true,
    run: () => void navigate({ to: "/settings/{-$section}", params: { section: id } }),
  }));
}
