import { Link } from "@tanstack/react-router";
import { ChartNoAxesColumn, History, LayoutTemplate, Settings, Workflow } from "lucide-react";
import { useAppTexts } from "../texts";

/** The way to every place: at the left, or at the bottom of a narrow screen. */
export function Sidebar() {
  const t = useAppTexts();
  const places = [
    { to: "/", label: t("flows"), icon: Workflow, exact: true },
    { to: "/templates", label: t("templates"), icon: LayoutTemplate },
    { to: "/runs", label: t("runs"), icon: History },
    { to: "/observe", label: t("observe"), icon: ChartNoAxesColumn },
    { to: "/settings/{-$section}", label: t("settings"), icon: Settings },
  ] as const;
  return (
    <nav
      aria-label={t("main_navigation")}
      className="flex shrink-0 items-center justify-around gap-1 border-t border-line bg-surface p-1.5 sm:w-14 sm:flex-col sm:justify-start sm:border-t-0 sm:border-r sm:py-3"
    >
      <img src="/icon.svg" alt="Headgate" width={28} height={28} className="mb-3 hidden sm:block" />
      {places.map(({ to, label, icon: Icon, ...more }) => (
        <Link
          key={to}
          to={to}
          activeOptions={{ exact: "exact" in more }}
          title={label}
          className="flex h-11 w-full max-w-20 flex-col items-center justify-center gap-0.5 rounded-md text-2xs text-muted hover:bg-hover hover:text-ink data-[status=active]:bg-accent-soft data-[status=active]:text-accent"
        >
          <Icon aria-hidden className="size-4.5" />
          <span className="max-w-full truncate">{label}</span>
        </Link>
      ))}
    </nav>
  );
}
