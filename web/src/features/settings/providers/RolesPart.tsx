import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { modelRolesQuery, type RoleState } from "@/api/queries/modelSetup";
import { useRights } from "@/api/rights";
import { ROLE_WORDS, useModelSetupTexts } from "@/components/modelSetup";
import { Button, Chip, Listing, Row } from "@/components/ui";
import { Part } from "../Section";
import { type SettingsText, useSettingsTexts } from "../texts";
import { RoleDialog } from "./RoleDialog";

/** Which model answers where nothing names one: for each role its model, where it was chosen, and why it is not ready. */
export function RolesPart() {
  const t = useSettingsTexts();
  const { may } = useRights();
  const roles = useQuery(modelRolesQuery);
  const [choosing, setChoosing] = useState<RoleState | null>(null);
  return (
    <Part title={t("model_roles")} about={t("model_roles_about")}>
      <Listing label={t("model_roles")} query={roles} empty={null}>
        {(one) => (
          <RoleRow key={one.role} state={one} {...(may("models.manage") ? { onChoose: () => setChoosing(one) } : {})} />
        )}
      </Listing>
      {choosing && <RoleDialog state={choosing} onClose={() => setChoosing(null)} />}
    </Part>
  );
}

function RoleRow({ state, onChoose }: { state: RoleState; onChoose?: () => void }) {
  const t = useSettingsTexts();
  const say = useModelSetupTexts();
  const words = ROLE_WORDS[state.role];
  const chain = state.models.map(({ provider, name }) => `${provider}/${name}`).join(" → ");
  const isOffline = state.model === "offline/offline" || (state.role === "assistant" && !state.model);
  const model = state.role === "fallback" ? chain : isOffline ? say("role_offline") : state.model;
  const params = Object.entries(state.params).map(([name, value]) => `${name} ${String(value)}`);
  return (
    <Row
      title={
        <>
          {say(words.title)}
          {state.source && <Chip tone={state.ready ? "ok" : "warn"}>{sourceOf(state.source, t)}</Chip>}
        </>
      }
      detail={
        <>
          <span className={model ? "font-mono text-xs" : ""}>{model || say("role_none")}</span>
          {params.length > 0 && ` · ${params.join(", ")}`}
          <span className="block">{say(words.more)}</span>
          {!state.ready && state.model && (
            <span className="block text-warn">
              {state.problem} {state.remedy}
            </span>
          )}
          {state.role === "default" && !state.model && <span className="block text-warn">{t("role_nothing")}</span>}
        </>
      }
      aside={
        onChoose && (
          <Button size="sm" aria-label={t("role_change_what", { what: say(words.title) })} onClick={onChoose}>
            {t("role_choose")}
          </Button>
        )
      }
    />
  );
}

function sourceOf(source: string, t: (key: SettingsText) => string) {
  if (source === "settings") return t("role_from_settings");
  return source === "first_ready" ? t("role_from_first") : source;
}
