import { useQuery } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useDeferredValue, useState } from "react";
import { type DatabaseTable, tablesQuery } from "@/api/queries/databases";
import { Input, Problem, Skeleton } from "@/components/ui";
import { useConnectionTexts } from "./texts";

interface TableListProps {
  /** Id of the connection. */
  connection: string;
  /** Gets the name of a table or column that was chosen, as SQL writes it. */
  onChoose?: (name: string) => void;
}

/** Tables of a database with their columns, types and keys, and a search in the names of both. */
export function TableList({ connection, onChoose }: TableListProps) {
  const t = useConnectionTexts();
  const [text, setText] = useState("");
  const found = useQuery(tablesQuery(connection, useDeferredValue(text.trim())));
  return (
    <div className="flex flex-col gap-2">
      <Input
        type="search"
        aria-label={t("find_table")}
        placeholder={t("find_table")}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      {found.isPending && <Skeleton className="h-24" />}
      {found.isError && <Problem error={found.error} />}
      {found.data?.items.length === 0 && <p className="text-muted text-sm">{t("no_table_found")}</p>}
      <ul aria-label={t("tables")} className="max-h-96 overflow-y-auto">
        {found.data?.items.map((one) => (
          <Item key={one.name} table={one} open={found.data.items.length < 4} {...(onChoose ? { onChoose } : {})} />
        ))}
      </ul>
      {found.data?.next_cursor && <p className="text-muted text-xs">{t("tables_more")}</p>}
    </div>
  );
}

interface ItemProps {
  table: DatabaseTable;
  open: boolean;
  onChoose?: (name: string) => void;
}

function Item({ table, open, onChoose }: ItemProps) {
  const t = useConnectionTexts();
  return (
    <li>
      <details open={open} className="py-0.5">
        <summary className="cursor-pointer rounded-sm px-1 py-0.5 hover:bg-hover">
          <Name name={table.name} sql={table.sql} {...(onChoose ? { onChoose } : {})} />
          <span className="text-faint text-xs"> {t("column_count", { count: table.columns.length })}</span>
        </summary>
        <ul aria-label={t("columns_of", { table: table.name })} className="pl-5">
          {table.columns.map((column) => (
            <li key={column.name} className="flex min-h-6 flex-wrap items-center gap-x-2">
              <Name name={column.name} sql={column.sql} {...(onChoose ? { onChoose } : {})} />
              <span className="text-muted text-xs">{column.type.toLowerCase()}</span>
              {column.key && <KeyRound aria-label={t("primary_key")} className="size-3.5 text-accent" />}
              {!column.nullable && !column.key && <span className="text-faint text-xs">{t("not_null")}</span>}
              {column.references && <span className="text-faint text-xs">→ {column.references}</span>}
            </li>
          ))}
        </ul>
      </details>
    </li>
  );
}

interface NameProps {
  name: string;
  sql: string;
  onChoose?: (name: string) => void;
}

function Name({ name, sql, onChoose }: NameProps) {
  const t = useConnectionTexts();
  if (!onChoose) return <span className="break-all font-mono text-xs">{name}</span>;
  return (
    <button
      type="button"
      title={t("insert_name", { name })}
      aria-label={t("insert_name", { name })}
      onClick={(event) => {
        event.preventDefault();
        onChoose(sql);
      }}
      className="break-all rounded-sm font-mono text-accent text-xs hover:underline"
    >
      {name}
    </button>
  );
}
