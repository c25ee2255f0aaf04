import { useQuery } from "@tanstack/react-query";
import { BrainCog, X } from "lucide-react";
import { Suspense, useState } from "react";
import { localModelsQuery, modelRolesQuery, type RoleState } from "@/api/queries/modelSetup";
import { useRights } from "@/api/rights";
import { AskAnAdmin } from "@/components/modelSetup/AskAnAdmin";
import { Button, IconButton, Progress } from "@/components/ui";
import { bytes } from "@/lib/i18n/format";
import { part } from "@/lib/part";
import { readStored, writeStored } from "@/lib/storage";
import { useHomeTexts } from "./texts";

const SetupGuide = part(async () => ({ default: (await import("@/components/modelSetup")).SetupGuide }));
const HIDDEN = "home.no_model_hidden";

/** Where no language model is ready: what works without one, what needs one, and the way to the first. */
export function NoModel() {
  const roles = useQuery(modelRolesQuery);
  const [open, setOpen] = useState(false);
  const state = roles.data?.find(({ role }) => role === "default");
  return (
    <>
      {state && !(state.model && state.ready) && <Notice state={state} onConnect={() => setOpen(true)} />}
      {/* Beside the notice, which goes as soon as a model answers: the guide says what is left to choose. */}
      {open && (
        <Suspense>
          <SetupGuide onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}

function Notice({ state, onConnect }: { state: RoleState; onConnect: () => void }) {
  const t = useHomeTexts();
  const { may } = useRights();
  const [hidden, setHidden] = useState(() => readStored(HIDDEN, false));
  const hide = (next: boolean) => {
    writeStored(HIDDEN, next);
    setHidden(next);
  };
  const title = t(state.model ? "model_not_ready" : "no_model");
  if (hidden) {
    return (
      <p className="-mt-4 text-center text-muted text-sm">
        {title}.{" "}
        <button
          type="button"
          className="inline-flex h-8 items-center font-medium text-accent hover:underline"
          onClick={() => hide(false)}
        >
          {t("no_model_show")}
        </button>
      </p>
    );
  }
  return (
    <section
      aria-labelledby="no-model"
      className="mx-auto flex w-full max-w-3xl items-start gap-3 rounded-xl border border-line bg-surface px-4 py-3"
    >
      <BrainCog aria-hidden className="mt-0.5 size-5 shrink-0 text-accent" />
      <div className="min-w-0 flex-1">
        <h2 id="no-model" className="font-semibold">
          {title}
        </h2>
        {state.model && <p className="break-words text-sm text-warn">{`${state.model}: ${state.problem}`}</p>}
        <p className="mt-1 text-muted text-sm">{t("no_model_works")}</p>
        <p className="text-muted text-sm">{t("no_model_needs")}</p>
        {may("models.manage") && may("variables.manage") ? (
          <div className="mt-2.5 flex flex-wrap items-center gap-x-3 gap-y-2">
            <Button size="sm" kind="primary" onClick={onConnect}>
              {t("no_model_go")}
            </Button>
            <Fetching />
          </div>
        ) : (
          <p className="mt-1 text-sm">
            <AskAnAdmin />
          </p>
        )}
      </div>
      <IconButton size="sm" label={t("no_model_hide")} onClick={() => hide(true)}>
        <X />
      </IconButton>
    </section>
  );
}

/** How far a local model is that is being fetched. */
function Fetching() {
  const t = useHomeTexts();
  const models = useQuery(localModelsQuery);
  const model = models.data?.find(({ done, ready, fetching }) => fetching || (done > 0 && !ready));
  if (!model) return null;
  const values = { what: model.label, done: bytes(model.done), size: bytes(model.size) };
  return (
    <div className="min-w-0 flex-1 basis-56">
      <p className="text-muted text-xs">{t(model.fetching ? "no_model_fetching" : "no_model_stopped", values)}</p>
      <Progress label={model.label} value={model.done / model.size} />
    </div>
  );
}
