import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { connectionsQuery } from "@/api/queries/connections";
import { CodeEditor } from "@/components/code";
import { TableList } from "@/components/connections/TableList";
import { Button } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import { useFieldTexts } from "./texts";
import type { ControlProps } from "./types";

/** SQL for a connection's database, whose tables and columns are put in where the cursor is. */
export function SqlControl({ value, onChange, label, nodeId, "aria-invalid": invalid }: ControlProps) {
  const t = useFieldTexts();
  const insert = useRef<(text: string) => void>(() => undefined);
  const [open, setOpen] = useState(false);
  const space = useDraft((state) => state.spaceId);
  const named = useDraft((state) => (nodeId ? state.document.nodes[nodeId]?.params?.database : undefined));
  const connection = useQuery(connectionsQuery(space)).data?.find((one) => one.name === named)?.id ?? "";
  return (
    <div className="flex flex-col gap-1.5">
      <CodeEditor
        language="text"
        label={label}
        value={typeof value === "string" ? value : ""}
        onChange={(text) => onChange(text === "" ? undefined : text)}
        onInserter={(put) => {
          insert.current = put;
        }}
        {...(invalid ? { "aria-invalid": invalid } : {})}
      />
      <Button
        size="sm"
        className="self-start"
        aria-expanded={open && connection !== ""}
        disabled={connection === ""}
        onClick={() => setOpen(!open)}
      >
        {t("tables_choose")}
      </Button>
      {open && connection && <TableList connection={connection} onChoose={(name) => insert.current(name)} />}
    </div>
  );
}
