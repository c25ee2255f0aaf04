import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { LayoutTemplate, Search } from "lucide-react";
import { useDeferredValue, useMemo, useState } from "react";
import { templatesQuery } from "@/api/queries/templates";
import type { components } from "@/api/schema";
import { Page } from "@/components/page";
import { EmptyState, Input, Problem, Skeleton } from "@/components/ui";
import { useHomeTexts } from "../texts";
import { inWords, unite } from "./search";
import { runsAsItIs, TemplateCard } from "./TemplateCard";
import { TemplateDialog } from "./TemplateDialog";

type Category = components["schemas"]["TemplateSummary"]["category"];
const CATEGORIES: Category[] = ["documents", "spreadsheets", "text", "forms", "chat", "web", "data", "operations"];
const GRID = "grid grid-cols-[repeat(auto-fill,minmax(min(100%,18rem),1fr))] gap-4";
const PLACES = Array.from({ length: 9 }, (_, place) => `place-${place}`);

/** The gallery of ready-made flows. */
export function TemplatesPage() {
  const t = useHomeTexts();
  const [words, setWords] = useState("");
  const [ready, setReady] = useState(false);
  const { template: shown, category: asked } = useSearch({ from: "/inside/templates" });
  const navigate = useNavigate();
  const category = CATEGORIES.find((one) => one === asked) ?? "";
  const go = (search: { template?: string | undefined; category?: string | undefined }) =>
    void navigate({ to: "/templates", search, replace: true });
  const show = (template?: string) => go({ template, category: asked });
  const setCategory = (one: Category | "") => go({ category: one || undefined });
  const every = useQuery(templatesQuery(""));
  const found = useQuery(templatesQuery(useDeferredValue(words.trim())));
  const categories = useMemo(
    () => CATEGORIES.filter((one) => every.data?.some((e) => e.category === one)),
    [every.data],
  );
  const items = unite(found.data ?? [], inWords(every.data ?? [], words)).filter(
    (one) => (!category || one.category === category) && (!ready || runsAsItIs(one)),
  );
  return (
    <Page
      title={t("templates")}
      about={t("templates_more")}
      actions={
        <div className="relative w-96 max-w-full">
          <Search aria-hidden className="pointer-events-none absolute top-2 left-2.5 size-4 text-faint" />
          <Input
            type="search"
            className="pl-8"
            maxLength={200}
            value={words}
            aria-label={t("search_templates")}
            placeholder={t("search_templates")}
            onChange={(event) => setWords(event.target.value)}
          />
        </div>
      }
    >
      <fieldset aria-label={t("tags")} className="flex min-h-7 flex-wrap gap-1.5">
        {categories.length > 0 && <Tag label={t("all_tags")} on={!category} onClick={() => setCategory("")} />}
        {categories.map((one) => (
          <Tag
            key={one}
            label={t(`category_${one}`)}
            on={category === one}
            onClick={() => setCategory(category === one ? "" : one)}
          />
        ))}
        {categories.length > 0 && (
          <span className="ml-auto">
            <Tag label={t("as_it_is")} on={ready} onClick={() => setReady(!ready)} />
          </span>
        )}
      </fieldset>
      {found.isError && <Problem error={found.error} retry={() => void found.refetch()} />}
      {found.isPending && (
        <div aria-hidden className={GRID}>
          {PLACES.map((place) => (
            <Skeleton key={place} className="h-60" />
          ))}
        </div>
      )}
      {found.isSuccess && items.length === 0 && (
        <EmptyState icon={<LayoutTemplate />} title={t("no_template")}>
          {t("no_template_more")}
        </EmptyState>
      )}
      <ul className={GRID}>
        {items.map((one) => (
          <TemplateCard key={one.id} template={one} onOpen={() => show(one.id)} />
        ))}
      </ul>
      {shown && <TemplateDialog id={shown} onClose={() => show()} />}
    </Page>
  );
}

function Tag({ label, on, onClick }: { label: string; on: boolean; onClick: () => void }) {
  return (
    <button
      type="button"
      aria-pressed={on}
      onClick={onClick}
      className="h-7 rounded-full border border-line bg-surface px-3 text-xs text-muted hover:border-line-strong hover:text-ink aria-pressed:border-accent/40 aria-pressed:bg-accent-soft aria-pressed:text-accent"
    >
      {label}
    </button>
  );
}
