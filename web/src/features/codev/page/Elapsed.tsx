import { useEffect, useState } from "react";
import { duration } from "@/lib/i18n/format";

const SHOWN_FROM_MS = 2000;

/** How long it has been going on, counting; nothing at first, and nothing where nobody said when it began. */
export function Elapsed({ since }: { since: string }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const ms = now - Date.parse(since);
  // The clock of the server may be ahead of this one.
  return ms >= SHOWN_FROM_MS ? duration(Math.floor(ms / 1000) * 1000) : null;
}
