import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { OPERATIONS_SHOWN, type Operation, operationQuery, operationsQuery } from "@/api/queries/apis";
import { Chip, Input, Problem, Skeleton } from "@/components/ui";
import { Difference } from "./Difference";
import { useConnectionTexts } from "./texts";

interface OperationListProps {
  /** Id of the connection. */
  connection: string;
  /** What is chosen, by key. */
  chosen?: readonly string[];
  onChoose?: (operation: Operation) => void;
}

/** Operations of a connection's API, with a search. */
export function OperationList({ connection, chosen = [], onChoose }: OperationListProps) {
  const t = useConnectionTexts();
  const [text, setText] = useState("");
  const found = useQuery(operationsQuery(connection, useDeferredValue(text.trim())));
  return (
    <div className="flex flex-col gap-2">
      <Input
        type="search"
        aria-label={t("find_operation")}
        placeholder={t("find_operation")}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      {found.isPending && <Skeleton className="h-24" />}
      {found.isError && <Problem error={found.error} />}
      {found.data?.length === 0 && (
        <p className="text-muted text-sm">{text ? t("no_operation_found", { text }) : t("no_operations")}</p>
      )}
      <ul aria-label={t("operations")} className="max-h-72 divide-y divide-line overflow-y-auto">
        {found.data?.map((one) => (
          <li key={one.key}>
            <Line operation={one} isChosen={chosen.includes(one.key)} {...(onChoose ? { onChoose } : {})} />
            {one.changed && !onChoose && <Changed connection={connection} operation={one.key} />}
          </li>
        ))}
      </ul>
      {found.data?.length === OPERATIONS_SHOWN && (
        <p className="text-muted text-xs">{t("operations_more", { count: OPERATIONS_SHOWN })}</p>
      )}
    </div>
  );
}

/** The difference of a changed operation, loaded when it is opened. */
function Changed({ connection, operation }: { connection: string; operation: string }) {
  const t = useConnectionTexts();
  const [open, setOpen] = useState(false);
  const detail = useQuery({ ...operationQuery(connection, operation), enabled: open });
  return (
    <details className="pb-1.5 text-sm" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t("difference", { what: operation })}</summary>
      {detail.isError && <Problem error={detail.error} />}
      {detail.data && <Difference label={t("difference", { what: operation })} lines={detail.data.difference} />}
    </details>
  );
}

interface LineProps {
  operation: Operation;
  isChosen: boolean;
  onChoose?: (operation: Operation) => void;
}

function Line({ operation, isChosen, onChoose }: LineProps) {
  const t = useConnectionTexts();
  const words = (
    <>
      <span className="block break-all font-mono text-xs">
        {operation.key} {operation.changed && <Chip tone="warn">{t("operation_changed")}</Chip>}
        {operation.deprecated && <Chip>{t("operation_deprecated")}</Chip>}
      </span>
      <span className="block text-muted text-sm">{operation.summary}</span>
    </>
  );
  if (!onChoose) return <div className="py-1.5">{words}</div>;
  return (
    <button
      type="button"
      aria-pressed={isChosen}
      onClick={() => onChoose(operation)}
      className="w-full rounded-md px-2 py-1.5 text-left hover:bg-hover aria-pressed:bg-hover"
    >
      {words}
    </button>
  );
}
