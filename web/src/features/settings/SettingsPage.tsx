import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { Fragment, Suspense } from "react";
import { useRights } from "@/api/rights";
import { Select, Skeleton } from "@/components/ui";
import { useTitle } from "@/lib/title";
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
  useTitle(title);
  return (
    <div className="mx-auto flex max-w-7xl flex-col gap-6 px-4 py-6 sm:px-8 md:flex-row md:gap-10">
      <div className="shrink-0 md:w-60">
        <h1 className="mb-3 text-2xl font-semibold md:px-2.5">{t("settings")}</h1>
        <div className="md:hidden">
          <Select
            aria-label={t("section")}
            value={open?.id}
            options={shown.map(({ id, label }) => ({ value: id, label: t(label) }))}
            onChange={(id) => void navigate({ to: "/settings/{-$section}", params: { section: id } })}
          />
        </div>
        <nav
          aria-label={t("settings")}
          className="hidden flex-col gap-0.5 md:sticky md:top-6 md:flex md:max-h-[calc(100dvh-3rem)] md:overflow-y-auto"
        >
          {shown.map(({ id, group, label, icon: Icon }, index) => (
            <Fragment key={id}>
              {group !== shown[index - 1]?.group && (
                <h2 className="px-2.5 pb-1 text-xs font-medium text-faint not-first:pt-4">{t(group)}</h2>
              )}
              <Link
                to="/settings/{-$section}"
                params={{ section: id }}
                aria-current={id === open?.id ? "page" : undefined}
                className="flex min-h-8 shrink-0 items-center gap-2.5 rounded-md px-2.5 py-1 text-muted hover:bg-hover hover:text-ink aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-accent"
              >
                <Icon aria-hidden className="size-4 shrink-0" />
                {t(label)}
              </Link>
            </Fragment>
          ))}
        </nav>
      </div>
      <div className="min-w-0 flex-1 pb-10">
        <Suspense fallback={<Skeleton className="h-80" />}>{open && <open.Content />}</Suspense>
      </div>
    </div>
  );
}
