import { RotateCcw } from "lucide-react";
import { useState } from "react";
import type { CodevSession } from "@/api/queries/codev";
import { ModelPicker } from "@/components/models/ModelPicker";
import { modelName } from "@/components/models/modelValue";
import { Button, Field, Input } from "@/components/ui";
import { number } from "@/lib/i18n/format";
import { figureOf, whole } from "../model/startForm";
import { useCodevTexts } from "../texts";
import { useRetry } from "./useStop";

const MOST = 50_000_000;

/** Continues a session that failed or stopped, with the model it had or another, and a larger budget where it needs one. */
export function Continue({ session }: { session: CodevSession }) {
  const t = useCodevTexts();
  const [model, setModel] = useState(session.model);
  const [budget, setBudget] = useState(() => number(Math.min(session.token_budget * 2, MOST)));
  const retry = useRetry(session.thread_id);
  const used = session.total_input_tokens + session.total_output_tokens;
  const wrong = Boolean(session.lacks_budget) && !whole(budget, used + 1, MOST);
  const send = () => retry.mutate(session.lacks_budget ? { model, budget: figureOf(budget) } : { model });
  return (
    <div className="flex flex-wrap items-end gap-3">
      <div className="min-w-0 basis-72">
        <Field label={t("retry_model")} help={t("retry_model_help")}>
          {(control) => (
            <ModelPicker
              {...control}
              value={model}
              onChange={(value) => {
                const chosen = modelName(value);
                if (chosen) setModel(`${chosen.provider}/${chosen.name}`);
              }}
            />
          )}
        </Field>
      </div>
      {session.lacks_budget && (
        <div className="min-w-0 basis-52">
          <Field
            label={t("retry_budget")}
            help={t("retry_budget_help")}
            error={wrong ? t("retry_budget_wrong", { used: number(used) }) : null}
          >
            {(control) => (
              <Input
                {...control}
                inputMode="numeric"
                value={budget}
                onChange={({ target }) => setBudget(target.value)}
              />
            )}
          </Field>
        </div>
      )}
      <Button size="sm" icon={<RotateCcw />} busy={retry.isPending} disabled={wrong} onClick={send}>
        {t("go_on")}
      </Button>
    </div>
  );
}
