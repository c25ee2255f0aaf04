import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Segments } from "@/components/ui";
import { LANGUAGES, type Language, setLanguage } from "@/lib/i18n/i18n";
import { useTitle } from "@/lib/title";
import { FlowMotif } from "./FlowMotif";
import { useAccountTexts } from "./texts";

const CHOICES = Object.entries(LANGUAGES).map(([value, label]) => ({ value: value as Language, label }));

/** What is around the pages of those who are not in yet: the name, a quiet picture, the languages. */
export function AccountFrame({ title, about, children }: { title: string; about?: string; children: ReactNode }) {
  const t = useAccountTexts();
  const { i18n } = useTranslation();
  useTitle(title);
  return (
    <div className="grid min-h-dvh bg-surface lg:grid-cols-[minmax(0,1fr)_minmax(0,1.1fr)]">
      <main className="flex min-h-dvh flex-col px-6 py-6 sm:px-10">
        <div className="flex items-center gap-2.5 font-semibold">
          <img src="/icon.svg" alt="" width={28} height={28} />
          Headgate
        </div>
        <div className="mx-auto flex w-full max-w-90 flex-1 flex-col justify-center py-10">
          <h1 className="text-2xl font-semibold">{title}</h1>
          {about && <p className="mt-1 text-muted">{about}</p>}
          <div className="mt-6">{children}</div>
        </div>
        <div>
          <Segments
            size="sm"
            aria-label={t("language")}
            value={i18n.language === "sv" ? "sv" : "en"}
            options={CHOICES}
            onChange={(language) => void setLanguage(language)}
          />
        </div>
      </main>
      <aside className="relative hidden overflow-hidden border-l border-line bg-canvas lg:block">
        <FlowMotif />
        <div className="absolute inset-x-12 bottom-14">
          <p className="max-w-md text-3xl font-semibold tracking-tight">{t("promise")}</p>
          <p className="mt-2 text-lg text-muted">{t("promise_more")}</p>
        </div>
      </aside>
    </div>
  );
}
