import { useAppTexts } from "../texts";

/** How many things of a place wait for the person. */
export function Badge({ count }: { count: number }) {
  const t = useAppTexts();
  return (
    <span className="absolute -top-1.5 left-3 flex h-4 min-w-4 items-center justify-center rounded-full bg-accent px-1 text-2xs font-semibold text-on-accent">
      <span aria-hidden>{count > 9 ? "9+" : count}</span>
      <span className="sr-only">{t("waiting_count", { count })}</span>
    </span>
  );
}
