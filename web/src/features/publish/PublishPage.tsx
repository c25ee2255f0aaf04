import { useSearch } from "@tanstack/react-router";
import { ExportButtons } from "@/components/exports/ExportButtons";
import { useDraft, useDraftStore } from "@/lib/draft";
import { CompareDialog } from "./CompareDialog";
import { PublishCard } from "./PublishCard";
import { Section } from "./Section";
import { useSavedDraft } from "./saved";
import { sideOf } from "./sides";
import { usePublishTexts } from "./texts";
import { UseIt } from "./UseIt";
import { VersionList } from "./VersionList";

/** Publish the draft, look after its versions, and call what is published. */
export function PublishPage() {
  const t = usePublishTexts();
  const store = useDraftStore();
  const flowId = useDraft((state) => state.flowId);
  const name = useDraft((state) => state.document.name);
  const published = useDraft((state) => state.publishedVersion);
  useSavedDraft();
  const { before, after } = useSearch({ from: "/inside/flows/$flowId/publish" });
  const sides = [sideOf(before), sideOf(after)] as const;
  return (
    <div className="mx-auto flex max-w-7xl flex-col gap-8 px-4 py-6 sm:px-8">
      <div className="grid gap-8 lg:grid-cols-[minmax(0,1fr)_minmax(0,1.15fr)]">
        <Section title={t("publish")} about={t("publish_about")}>
          <PublishCard />
        </Section>
        <Section title={t("versions")} about={t("versions_about")}>
          <VersionList />
        </Section>
      </div>
      <Section title={t("use")} about={published === null ? t("use_first") : t("use_about")}>
        <UseIt />
      </Section>
      <Section title={t("export")} about={t("export_about")}>
        <ExportButtons
          flowId={flowId}
          name={name}
          kinds={["json", "spec", "svg", "png", "report"]}
          before={() => store.getState().flush()}
        />
      </Section>
      {sides[0] !== null && sides[1] !== null && <CompareDialog before={sides[0]} after={sides[1]} />}
    </div>
  );
}
