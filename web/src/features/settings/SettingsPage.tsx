import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { Suspense, useEffect } from "react";
import { useRights } from "@/api/rights";
import { Select, Skeleton } from "@/components/ui";
import { SECTIONS } from "./sections";
import { useSettingsTexts } from "./texts";

/** The settings: a list of sections at the side, one of them open. */
export function SettingsPage() {
  const t = useSettingsTexts();
  const { section } = useParams({ strict: false });
  const navigate = useNavigate();
  const { me, may } = useRights();
  const shown = SECTIONS.filter((one) => one.may?.(may, me) ?? true);
  const open = shown.find(({ id }) => id === section) ?? shown[0];
  const title = open ? t(open.label) : t("settings");
  useEffect(() => {
    document.title = `${title} · Headgate`;
  }, [title]);
  return (
    <div className="mx-auto flex max-w-6xl flex-col gap-6 px-4 py-6 sm:px-8 md:flex-row md:gap-10">
      <div className="shrink-0 md:w-52">
        <h1 className="mb-3 text-2xl font-semibold md:px-2.5">{t("settings")}</h1>
        <div className="md:hidden">
          <Select
            aria-label={t("section")}
            value={open?.id}
            options={shown.map(({ id, label }) => ({ value: id, label: t(label) }))}
            onChange={(id) => void navigate({ to: "/settings/{-$section}", params: { section: id } })}
          />
        </div>
        <nav aria-label={t("settings")} className="hidden flex-col gap-0.5 md:sticky md:top-6 md:flex">
          {shown.map(({ id, label, icon: Icon }) => (
            <Link
              key={id}
              to="/settings/{-$section}"
              params={{ section: id }}
              aria-current={id === open?.id ? "page" : undefined}
              className="flex h-8 items-center gap-2.5 rounded-md px-2.5 text-muted hover:bg-hover hover:text-ink aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-accent"
            >
              <Icon aria-hidden className="size-4" />
              {t(label)}
            </Link>
          ))}
        </nav>
      </div>
      <div className="min-w-0 flex-1 pb-10">
        <Suspense fallback={<Skeleton className="h-80" />}>{open && <open.Content />}</Suspense>
      </div>
    </div>
  );
}
