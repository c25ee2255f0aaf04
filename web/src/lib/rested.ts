import { useEffect, useState } from "react";

const RESTED_MS = 1200;

/** Whether something was asked for, or the first picture has been there for a while: then it may be fetched. */
export function useRested(asked = false): boolean {
  const [rested, setRested] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setRested(true), RESTED_MS);
    return () => clearTimeout(timer);
  }, []);
  return rested || asked;
}
