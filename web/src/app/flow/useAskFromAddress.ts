import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect } from "react";
import { usePanels } from "@/lib/panels";
import { useRequests } from "@/lib/requests";

/** What `?ask=` of the address says is asked of the assistant once, and leaves the address. */
export function useAskFromAddress(): void {
  const { ask } = useSearch({ strict: false });
  const navigate = useNavigate();
  useEffect(() => {
    if (!ask) return;
    usePanels.getState().setOpen("assistant", true);
    useRequests.getState().requestAsk(ask, true);
    void navigate({ to: ".", search: {}, replace: true });
  }, [ask, navigate]);
}
