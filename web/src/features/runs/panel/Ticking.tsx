import { useEffect, useState } from "react";
import { duration } from "@/lib/i18n/format";

/** How long it has been since then, counting. */
export function Ticking({ since }: { since: number | null }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, []);
  return <span className="tabular-nums">{since === null ? "" : duration(Math.max(now - since, 1))}</span>;
}
