import type { KeyboardEvent, PointerEvent } from "react";
import { cx } from "@/components/ui";
import { type Tenant, usePanels } from "@/lib/panels";
import { writeStored } from "@/lib/storage";
import { useAppTexts } from "../texts";

const NARROWEST = 320;
const WIDEST = 720;
const TENANTS: readonly Tenant[] = ["inspector", "run", "assistant"];

/** The way back to what stands behind. */
export function ColumnTabs({ tenants }: { tenants: readonly Tenant[] }) {
  const t = useAppTexts();
  const shown = tenants.at(-1);
  const there = TENANTS.filter((one) => tenants.includes(one));
  const go = (tenant: Tenant | undefined) => tenant && usePanels.getState().setOpen(tenant, true);
  const onKey = (event: KeyboardEvent<HTMLElement>) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0 || !shown) return;
    event.preventDefault();
    const next = there[(there.indexOf(shown) + step + there.length) % there.length];
    go(next);
    event.currentTarget.querySelector<HTMLElement>(`[data-tenant=${next}]`)?.focus();
  };
  return (
    <div
      role="tablist"
      aria-label={t("beside")}
      onKeyDown={onKey}
      className="flex h-9 shrink-0 items-stretch gap-4 border-line border-b bg-sunken px-4"
    >
      {there.map((tenant) => (
        <button
          key={tenant}
          type="button"
          role="tab"
          data-tenant={tenant}
          aria-selected={tenant === shown}
          tabIndex={tenant === shown ? 0 : -1}
          onClick={() => go(tenant)}
          className={cx(
            "-mb-px border-b-2 text-sm transition-colors",
            tenant === shown ? "border-accent font-medium text-ink" : "border-transparent text-muted hover:text-ink",
          )}
        >
          {t(`beside_${tenant}`)}
        </button>
      ))}
    </div>
  );
}

interface ColumnEdgeProps {
  width: number;
  onWidth: (width: number) => void;
  label: string;
}

/** The left edge: dragged, or moved with the arrow keys; remembered. */
export function ColumnEdge({ width, onWidth, label }: ColumnEdgeProps) {
  const set = (next: number) => {
    const bounded = Math.round(Math.min(Math.max(next, NARROWEST), WIDEST));
    onWidth(bounded);
    writeStored("column.width", bounded);
  };
  const start = (event: PointerEvent<HTMLDivElement>) => {
    const edge = event.currentTarget;
    const from = event.clientX;
    edge.setPointerCapture(event.pointerId);
    const move = (moving: globalThis.PointerEvent) => set(width + from - moving.clientX);
    edge.addEventListener("pointermove", move);
    edge.addEventListener("lostpointercapture", () => edge.removeEventListener("pointermove", move), { once: true });
  };
  const key = (event: KeyboardEvent) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    event.preventDefault();
    set(width + (event.key === "ArrowLeft" ? 24 : -24));
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a separator that is moved is no <hr>
    <div
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation="vertical"
      aria-valuemin={NARROWEST}
      aria-valuemax={WIDEST}
      aria-valuenow={width}
      onPointerDown={start}
      onKeyDown={key}
      className="absolute inset-y-0 left-0 z-20 w-1.5 cursor-col-resize touch-none hover:bg-accent/25 focus-visible:bg-accent/40"
    />
  );
}
