import { useCallback, useEffect, useState } from "react";
import { useEditingTexts } from "./texts";

const SHOWN_MS = 5000;

/** What somebody else just did, for a moment; a newer one takes its place. */
export function usePassing() {
  const [notice, setNotice] = useState<{ text: string; at: number } | null>(null);
  useEffect(() => {
    if (!notice) return;
    const timer = setTimeout(() => setNotice(null), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [notice]);
  const tell = useCallback((text: string) => setNotice({ text, at: Date.now() }), []);
  return { notice, tell };
}

export function Passing({ notice }: { notice: { text: string; at: number } | null }) {
  const t = useEditingTexts();
  return (
    <div
      role="status"
      aria-label={t("notices")}
      className="pointer-events-none fixed inset-x-0 top-24 z-30 flex justify-center px-4 lg:top-16"
    >
      {notice && (
        <p
          key={notice.at}
          className="max-w-full truncate rounded-full border border-line bg-raised px-3.5 py-1 text-sm shadow-float animate-rise"
        >
          {notice.text}
        </p>
      )}
    </div>
  );
}
