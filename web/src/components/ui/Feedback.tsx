import { AlertTriangle, CircleAlert, CircleCheck, Info } from "lucide-react";
import type { ReactNode } from "react";
import { ApiError } from "@/api/problem";
import { Button } from "./Button";
import { cx } from "./cx";
import { useUiTexts } from "./texts";

/** Nothing here yet: what this place is for, and the way to the first one. */
export function EmptyState({
  icon,
  title,
  children,
  action,
}: {
  icon: ReactNode;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className="mx-auto flex max-w-sm flex-col items-center px-4 py-12 text-center">
      <div className="mb-3 flex size-11 items-center justify-center rounded-lg bg-accent-soft text-accent [&_svg]:size-5.5">
        {icon}
      </div>
      <h2 className="text-lg font-semibold">{title}</h2>
      {children && <div className="mt-1 text-muted">{children}</div>}
      {action && <div className="mt-4 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  );
}

/** A place that will be filled, of the size that it will have. */
export function Skeleton({ className }: { className?: string }) {
  return <div aria-hidden className={cx("animate-pulse rounded-md bg-hover", className)} />;
}

const CALLOUTS = {
  info: { icon: Info, look: "border-info/25 bg-info-soft text-info" },
  ok: { icon: CircleCheck, look: "border-ok/25 bg-ok-soft text-ok" },
  warn: { icon: AlertTriangle, look: "border-warn/25 bg-warn-soft text-warn" },
  bad: { icon: CircleAlert, look: "border-bad/25 bg-bad-soft text-bad" },
};

export function Callout({
  tone = "info",
  title,
  children,
  action,
}: {
  tone?: keyof typeof CALLOUTS;
  title?: ReactNode;
  children?: ReactNode;
  action?: ReactNode;
}) {
  const { icon: Icon, look } = CALLOUTS[tone];
  return (
    <div
      role={tone === "bad" ? "alert" : "status"}
      className={cx("flex gap-2.5 rounded-md border px-3 py-2.5 text-sm", look, !children && "items-center")}
    >
      <Icon aria-hidden className={cx("size-4 shrink-0", children && "mt-0.5")} />
      <div className="min-w-0 flex-1">
        {title && <div className="font-medium">{title}</div>}
        {children && <div className="break-words text-ink">{children}</div>}
      </div>
      {action}
    </div>
  );
}

/** What went wrong and what to do, in words; `retry` where asking again may help. */
export function Problem({ error, retry }: { error: unknown; retry?: () => void }) {
  const t = useUiTexts();
  const known = error instanceof ApiError ? error : null;
  const title = known?.status === 0 ? t("offline") : (known?.problem.title ?? t("failed"));
  const detail = known ? known.problem.detail : error instanceof Error ? error.message : "";
  return (
    <Callout
      tone="bad"
      title={title}
      action={
        retry && (
          <Button size="sm" onClick={retry}>
            {t("retry")}
          </Button>
        )
      }
    >
      {detail}
      {known?.remedy && <p className="mt-1 text-muted">{known.remedy}</p>}
    </Callout>
  );
}

export function Progress({ value, label }: { value: number | null; label: string }) {
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={value === null ? undefined : Math.round(value * 100)}
      className="h-1 w-full overflow-hidden rounded-full bg-sunken"
    >
      <div
        className={cx(
          "h-full rounded-full bg-accent transition-[width] duration-200",
          value === null && "w-1/3 animate-pulse",
        )}
        style={value === null ? undefined : { width: `${value * 100}%` }}
      />
    </div>
  );
}
