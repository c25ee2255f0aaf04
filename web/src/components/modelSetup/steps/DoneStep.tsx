import { useQuery } from "@tanstack/react-query";
import { modelRolesQuery, type RoleState } from "@/api/queries/modelSetup";
import { Button, Chip, Listing, Row } from "@/components/ui";
import { ROLE_WORDS } from "../roles";
import { useModelSetupTexts } from "../texts";
import { Buttons } from "./Buttons";

/** Which model answers now, by role, and what is not ready. */
export function DoneStep({ onAnother, onClose }: { onAnother: () => void; onClose: () => void }) {
  const t = useModelSetupTexts();
  const roles = useQuery({ ...modelRolesQuery, select: (all) => all.filter(({ role }) => role !== "fallback") });
  return (
    <>
      <section aria-labelledby="done" className="flex flex-col gap-3">
        <h3 id="done" className="font-semibold">
          {t("done_title")}
        </h3>
        <Listing label={t("done_title")} query={roles} empty={null}>
          {(one) => <Answers key={one.role} state={one} />}
        </Listing>
        <p className="text-muted text-sm">{t("done_more")}</p>
      </section>
      <Buttons>
        <Button onClick={onAnother}>{t("done_another")}</Button>
        <Button kind="primary" onClick={onClose}>
          {t("done_close")}
        </Button>
      </Buttons>
    </>
  );
}

function Answers({ state }: { state: RoleState }) {
  const t = useModelSetupTexts();
  const { role, model, ready, problem } = state;
  const isOffline = model === "offline/offline" || (role === "assistant" && !model);
  return (
    <Row
      title={
        <>
          {t(ROLE_WORDS[role].title)}
          {!ready && !isOffline && <Chip tone="warn">{t("done_not")}</Chip>}
        </>
      }
      detail={
        <>
          {isOffline ? t("role_offline") : <span className="font-mono text-xs">{model ?? t("role_none")}</span>}
          {!ready && !isOffline && <span className="block text-warn">{problem}</span>}
        </>
      }
    />
  );
}
