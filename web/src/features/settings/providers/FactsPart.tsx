import { useQuery } from "@tanstack/react-query";
import { Pencil, Plus } from "lucide-react";
import { useState } from "react";
import { modelFactsQuery } from "@/api/queries/modelSetup";
import { useRights } from "@/api/rights";
import type { components } from "@/api/schema";
import { Button, Chip, IconButton, Input, Listing, Row } from "@/components/ui";
import { money } from "@/lib/i18n/format";
import { Part } from "../Section";
import { useSettingsTexts } from "../texts";
import { FactsDialog } from "./FactsDialog";

export type ModelInfo = components["schemas"]["ModelInfo"];
const SHOWN = 8;

/** Models that are offered or hidden, with what the organisation says of them. */
export function FactsPart() {
  const t = useSettingsTexts();
  const { may } = useRights();
  const models = useQuery(modelFactsQuery);
  const [wanted, setWanted] = useState("");
  const [editing, setEditing] = useState<ModelInfo | true | null>(null);
  if (!may("models.manage")) return null;
  const words = wanted.trim().toLowerCase();
  const matches = (models.data ?? [])
    .filter(({ provider, name, label }) => `${provider}/${name} ${label}`.toLowerCase().includes(words))
    .sort((one, other) => Number(other.changed) - Number(one.changed));
  return (
    <Part
      title={t("offered")}
      about={t("offered_about")}
      action={
        <Button icon={<Plus />} onClick={() => setEditing(true)}>
          {t("add_model")}
        </Button>
      }
    >
      <Input
        aria-label={t("find_model")}
        placeholder={t("find_model")}
        value={wanted}
        onChange={(event) => setWanted(event.target.value)}
      />
      <Listing label={t("offered")} query={{ ...models, data: matches.slice(0, SHOWN) }} empty={null}>
        {(one) => (
          <Row
            key={`${one.provider}/${one.name}`}
            muted={one.hidden ?? false}
            title={
              <>
                {one.label}
                {one.hidden && <Chip>{t("offered_hidden")}</Chip>}
              </>
            }
            detail={
              <>
                <span className="font-mono text-xs">{`${one.provider}/${one.name}`}</span>
                {one.price_in !== null &&
                  one.price_out !== null &&
                  ` · ${money(one.price_in)} / ${money(one.price_out)}`}
                {one.description && <span className="block">{one.description}</span>}
              </>
            }
            aside={
              <IconButton size="sm" label={t("offered_edit", { what: one.label })} onClick={() => setEditing(one)}>
                <Pencil />
              </IconButton>
            }
          />
        )}
      </Listing>
      {matches.length > SHOWN && (
        <p className="text-muted text-sm">{t("more_models", { count: matches.length - SHOWN })}</p>
      )}
      {editing && <FactsDialog model={editing === true ? null : editing} onClose={() => setEditing(null)} />}
    </Part>
  );
}
