import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Workflow } from "lucide-react";
import { useState } from "react";
import { templatesQuery } from "@/api/queries/templates";
import { EmptyState, Skeleton } from "@/components/ui";
import { TemplateCard } from "./templates/TemplateCard";
import { TemplateDialog } from "./templates/TemplateDialog";
import { useHomeTexts } from "./texts";

/** One of each kind, all of which run without a model on the sample data that they bring. */
const FIRST = [
  "monthly-sales",
  "quote-calculator",
  "faq-bot",
  "sales-report-pdf",
  "mask-personal-data",
  "leave-request",
];
/** The number of cards is a multiple of each number of columns: no row has an orphan. */
const GRID = "grid grid-cols-1 gap-4 sm:grid-cols-2 lg:grid-cols-3";

/** What stands where the flows will: templates that run at once. */
export function FirstVisit({ builds }: { builds: boolean }) {
  const t = useHomeTexts();
  const every = useQuery({ ...templatesQuery(""), enabled: builds });
  const [shown, setShown] = useState<string | null>(null);
  if (!builds) {
    return (
      <EmptyState icon={<Workflow />} title={t("nothing_shared")}>
        {t("nothing_shared_more")}
      </EmptyState>
    );
  }
  const first = FIRST.flatMap((id) => every.data?.find((one) => one.id === id) ?? []);
  return (
    <section aria-labelledby="first" className="flex flex-col gap-4">
      <div className="flex items-baseline gap-4">
        <h2 id="first" className="text-lg font-semibold">
          {t("start_from")}
        </h2>
        <Link to="/templates" className="ml-auto inline-flex h-8 items-center font-medium text-accent hover:underline">
          {t("all_templates")}
        </Link>
      </div>
      {every.isPending && (
        <div aria-hidden className={GRID}>
          {FIRST.map((id) => (
            <Skeleton key={id} className="h-60" />
          ))}
        </div>
      )}
      <ul className={GRID}>
        {first.map((one) => (
          <TemplateCard key={one.id} template={one} onOpen={() => setShown(one.id)} />
        ))}
      </ul>
      {shown && <TemplateDialog id={shown} onClose={() => setShown(null)} />}
    </section>
  );
}
