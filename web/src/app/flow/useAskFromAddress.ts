import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect } from "react";
import { usePanels } from "@/lib/panels";
import { useRequests } from "@/lib/requests";

/**
 * What `?ask=` of the address says is put to the assistant once, and leaves the address. It is sent where this page wrote
 * it; a link from elsewhere only fills in the words.
 */
export function useAskFromAddress(): void {
  const { ask } = useSearch({ strict: false });
  const navigate = useNavigate();
  useEffect(() => {
    if (!ask) return;
    usePanels.getState().setOpen("assistant", true);
    const { announced, requestAsk } = useRequests.getState();
    useRequests.setState({ announced: null });
    requestAsk(ask, announced === ask);
    void navigate({ to: ".", search: {}, replace: true });
  }, [ask, navigate]);
}
