import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { ChevronRight } from "lucide-react";
import { calledFlowQuery } from "@/api/queries/calledFlow";
import { useCallerTexts } from "./texts";

/** The flow that runs this one, where the user came from its steps; nothing where it cannot be read. */
export function Caller() {
  const t = useCallerTexts();
  const { caller = "" } = useSearch({ strict: false });
  const { data } = useQuery(calledFlowQuery(caller, ""));
  if (!data?.id) return null;
  const { id, name } = data;
  return (
    <>
      <Link
        to="/flows/$flowId"
        params={{ flowId: id }}
        aria-label={t("back_to", { name })}
        title={t("back_more", { name })}
        className="max-w-40 shrink-0 truncate text-sm text-muted hover:text-ink"
      >
        {name}
      </Link>
      <ChevronRight aria-hidden className="size-3.5 shrink-0 text-faint" />
    </>
  );
}
