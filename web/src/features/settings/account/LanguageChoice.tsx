import { useTranslation } from "react-i18next";
import { Segments } from "@/components/ui";
import { LANGUAGES, type Language, setLanguage } from "@/lib/i18n/i18n";
import { Part } from "../Section";
import { useSettingsTexts } from "../texts";

/** The language of the page, kept in this browser. */
export function LanguageChoice() {
  const t = useSettingsTexts();
  const { i18n } = useTranslation();
  return (
    <Part title={t("language")} about={t("in_this_browser")}>
      <div>
        <Segments
          aria-label={t("language")}
          value={i18n.language === "sv" ? "sv" : "en"}
          options={Object.entries(LANGUAGES).map(([value, label]) => ({ value: value as Language, label }))}
          onChange={(language) => void setLanguage(language)}
        />
      </div>
    </Part>
  );
}
