import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { Suspense, useState } from "react";
import { connectionKindsQuery, connectionsQuery } from "@/api/queries/connections";
import { useRights } from "@/api/rights";
import { KindIcon } from "@/components/connections/kindIcons";
import { useConnectionTexts } from "@/components/connections/texts";
import { Button, Select } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import { part } from "@/lib/part";
import type { ControlProps } from "./types";

const NONE = " ";
const ConnectionDialog = part(async () => ({
  default: (await import("@/components/connections/ConnectionDialog")).ConnectionDialog,
}));

/** The connection that a step uses, by its name; a new one can be added here. */
export function ConnectionControl({ field, value, onChange, label, nodeId: _, ...ids }: ControlProps) {
  const t = useConnectionTexts();
  const { may } = useRights();
  const space = useDraft((state) => state.spaceId);
  const connections = useQuery(connectionsQuery(space));
  const kinds = useQuery(connectionKindsQuery);
  const [adding, setAdding] = useState(false);
  const now = typeof value === "string" ? value : "";
  const wanted = field.connection_kinds ?? [];
  const known = connections.data ?? [];
  const fitting = known.filter((one) => wanted.length === 0 || wanted.includes(one.kind));
  const missing = now !== "" && connections.isSuccess && !known.some((one) => one.name === now);
  const other = !missing && now !== "" && connections.isSuccess && !fitting.some((one) => one.name === now);
  const kindOf = (name: string) => {
    const id = known.find((one) => one.name === name)?.kind;
    return kinds.data?.find((kind) => kind.id === id);
  };
  const names = [...new Set([...(now ? [now] : []), ...fitting.map((one) => one.name)])];
  const isPersonal = (name: string) => fitting.some((one) => one.name === name && one.owner_id !== null);
  return (
    <div className="flex flex-col gap-1">
      <div className="flex flex-wrap gap-1.5">
        <Select
          {...ids}
          {...(ids.id ? {} : { "aria-label": label })}
          value={now || (field.required ? undefined : NONE)}
          placeholder={t("select")}
          options={[
            ...(field.required ? [] : [{ value: NONE, label: t("no_connection") }]),
            ...names.map((name) => ({
              value: name,
              label: isPersonal(name) ? `${name} (${t("personal")})` : name,
              icon: <KindIcon kind={kindOf(name)} className="size-3.5 text-faint" />,
            })),
          ]}
          onChange={(next) => onChange(next === NONE ? undefined : next)}
        />
        {may("connections.own", space) && (
          <Button icon={<Plus />} onClick={() => setAdding(true)}>
            {t("new")}
          </Button>
        )}
      </div>
      {missing && <p className="text-warn text-xs">{t("missing", { name: now })}</p>}
      {other && <p className="text-warn text-xs">{t("other_kind", { name: now })}</p>}
      {adding && (
        <Suspense>
          <ConnectionDialog
            spaceId={space}
            kinds={wanted}
            name={missing ? now : ""}
            onClose={() => setAdding(false)}
            onMade={(made) => onChange(made.name)}
          />
        </Suspense>
      )}
    </div>
  );
}
