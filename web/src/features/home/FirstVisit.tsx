import { Link } from "@tanstack/react-router";
import { FileUp, LayoutTemplate, Sparkles, Workflow } from "lucide-react";
import type { ReactNode } from "react";
import { EmptyState } from "@/components/ui";
import { useHomeTexts } from "./texts";

const LINK = "inline-flex h-8 items-center font-medium text-accent underline-offset-4 hover:underline";

/** What stands where the flows will: what a flow is, and the three ways to the first one. */
export function FirstVisit({ builds, onSay, onFile }: { builds: boolean; onSay: () => void; onFile: () => void }) {
  const t = useHomeTexts();
  if (!builds) {
    return (
      <EmptyState icon={<Workflow />} title={t("nothing_shared")}>
        {t("nothing_shared_more")}
      </EmptyState>
    );
  }
  return (
    <section aria-labelledby="first" className="mx-auto max-w-4xl py-8">
      <h2 id="first" className="text-center text-xl font-semibold">
        {t("first_title")}
      </h2>
      <p className="mx-auto mt-1 max-w-xl text-center text-muted">{t("first_text")}</p>
      <ol className="mt-6 grid gap-px overflow-hidden rounded-xl border border-line bg-line sm:grid-cols-3">
        <Way icon={<Sparkles />} title={t("first_say")} text={t("first_say_more")}>
          <button type="button" className={LINK} onClick={onSay}>
            {t("first_go_say")}
          </button>
        </Way>
        <Way icon={<LayoutTemplate />} title={t("first_template")} text={t("first_template_more")}>
          <Link to="/templates" className={LINK}>
            {t("first_go_template")}
          </Link>
        </Way>
        <Way icon={<FileUp />} title={t("first_file")} text={t("first_file_more")}>
          <button type="button" className={LINK} onClick={onFile}>
            {t("first_go_file")}
          </button>
        </Way>
      </ol>
    </section>
  );
}

function Way({ icon, title, text, children }: { icon: ReactNode; title: string; text: string; children: ReactNode }) {
  return (
    <li className="flex flex-col bg-surface p-5">
      <span aria-hidden className="text-accent [&_svg]:size-5.5">
        {icon}
      </span>
      <h3 className="mt-3 font-semibold">{title}</h3>
      <p className="mt-1 mb-3 text-muted">{text}</p>
      <div className="mt-auto">{children}</div>
    </li>
  );
}
