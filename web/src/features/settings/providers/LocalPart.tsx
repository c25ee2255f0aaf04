import { LocalModels, useProviderTexts } from "@/components/providers";
import { Part } from "../Section";
import { useSettingsTexts } from "../texts";

/** Models that run inside Headgate. */
export function LocalPart() {
  const t = useSettingsTexts();
  const words = useProviderTexts();
  return (
    <Part title={t("local_models")} about={words("local_more")}>
      <LocalModels label={t("local_models")} />
    </Part>
  );
}
