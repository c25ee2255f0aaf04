import { useQuery } from "@tanstack/react-query";
import { versionQuery } from "@/api/queries/health";
import { HealthParts } from "@/components/health/HealthParts";
import { Part, Section } from "../Section";
import { useSettingsTexts } from "../texts";

const LINKS = [
  ["/docs", "api_docs"],
  ["/api/v1/openapi.json", "openapi"],
] as const;

/** What runs here, and how its parts are. */
export function AboutSection() {
  const t = useSettingsTexts();
  const version = useQuery(versionQuery).data?.version;
  return (
    <Section title={t("about")} about={t("about_about")}>
      <dl className="grid grid-cols-[max-content_1fr] gap-x-6 gap-y-1.5 rounded-lg border border-line bg-surface px-4 py-3 [&_dt]:text-muted">
        <dt>{t("version")}</dt>
        <dd className="tabular-nums">{version ?? "–"}</dd>
        <dt>{t("licence")}</dt>
        <dd>Apache 2.0</dd>
        <dt>{t("interfaces")}</dt>
        <dd className="flex flex-wrap gap-x-4">
          {LINKS.map(([href, label]) => (
            <a key={href} href={href} className="text-accent hover:underline">
              {t(label)}
            </a>
          ))}
        </dd>
      </dl>
      <Part title={t("parts")}>
        <HealthParts />
      </Part>
    </Section>
  );
}
