import { Monitor, Moon, Sun } from "lucide-react";
import { Segments } from "@/components/ui";
import { useAppearance } from "@/lib/appearance/appearance";
import { LanguageChoice } from "../account/LanguageChoice";
import { Part, Section } from "../Section";
import { useSettingsTexts } from "../texts";

/** Light or dark, and whether things move. */
export function AppearanceSection() {
  const t = useSettingsTexts();
  const { theme, motion, setTheme, setMotion } = useAppearance();
  return (
    <Section title={t("appearance")} about={t("appearance_about")}>
      <Part title={t("theme")}>
        <div>
          <Segments
            aria-label={t("theme")}
            value={theme}
            options={[
              { value: "system", label: t("theme_system"), icon: <Monitor /> },
              { value: "light", label: t("theme_light"), icon: <Sun /> },
              { value: "dark", label: t("theme_dark"), icon: <Moon /> },
            ]}
            onChange={setTheme}
          />
        </div>
      </Part>
      <Part title={t("motion")} about={t("motion_about")}>
        <div>
          <Segments
            aria-label={t("motion")}
            value={motion}
            options={[
              { value: "system", label: t("motion_system") },
              { value: "reduced", label: t("motion_reduced") },
            ]}
            onChange={setMotion}
          />
        </div>
      </Part>
      <LanguageChoice />
    </Section>
  );
}
