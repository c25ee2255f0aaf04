import { X } from "lucide-react";
import { Toast as RadixToast } from "radix-ui";
import { create } from "zustand";
import { ApiError } from "@/api/problem";
import { cx } from "./cx";
import { useUiTexts } from "./texts";

interface ToastEntry {
  id: number;
  title: string;
  detail?: string | undefined;
  tone?: "ok" | "bad" | "neutral" | undefined;
  action?: { label: string; onClick: () => void } | undefined;
}

const useToasts = create<{ entries: ToastEntry[] }>(() => ({ entries: [] }));
let last = 0;

/** Say something in passing, with an action such as Undo. What needs an answer is no toast. */
export function toast(entry: Omit<ToastEntry, "id">): void {
  last += 1;
  const id = last;
  useToasts.setState(({ entries }) => ({ entries: [...entries, { ...entry, id }].slice(-4) }));
}

/** Say what went wrong with what somebody asked for. */
export function toastError(title: string, error: unknown): void {
  const detail =
    error instanceof ApiError ? [error.problem.detail, error.remedy].filter(Boolean).join(" ") : String(error);
  toast({ title, detail, tone: "bad" });
}

const forget = (id: number) =>
  useToasts.setState(({ entries }) => ({ entries: entries.filter((one) => one.id !== id) }));

export function Toasts() {
  const t = useUiTexts();
  const entries = useToasts((state) => state.entries);
  return (
    <RadixToast.Provider label={t("notification")} duration={6000} swipeDirection="right">
      {entries.map((entry) => (
        <RadixToast.Root
          key={entry.id}
          onOpenChange={(open) => !open && forget(entry.id)}
          className={cx(
            "flex items-start gap-3 rounded-lg border bg-raised py-2.5 pr-2 pl-3.5 shadow-float animate-slide",
            entry.tone === "bad" ? "border-bad/40" : "border-line",
          )}
        >
          <div className="min-w-0 flex-1 py-0.5">
            <RadixToast.Title className={cx("font-medium", entry.tone === "bad" && "text-bad")}>
              {entry.title}
            </RadixToast.Title>
            {entry.detail && (
              <RadixToast.Description className="mt-0.5 break-words text-sm text-muted">
                {entry.detail}
              </RadixToast.Description>
            )}
          </div>
          {entry.action && (
            <RadixToast.Action
              altText={entry.action.label}
              onClick={entry.action.onClick}
              className="h-7 rounded-md px-2 font-medium text-accent hover:bg-accent-soft"
            >
              {entry.action.label}
            </RadixToast.Action>
          )}
          <RadixToast.Close
            aria-label={t("close")}
            className="inline-flex size-7 items-center justify-center rounded-md text-faint hover:bg-hover"
          >
            <X className="size-4" />
          </RadixToast.Close>
        </RadixToast.Root>
      ))}
      <RadixToast.Viewport className="fixed right-3 bottom-3 z-50 flex w-[min(24rem,calc(100vw-1.5rem))] flex-col gap-2 outline-none" />
    </RadixToast.Provider>
  );
}
