import { Link } from "@tanstack/react-router";
import { ArrowRight, LayoutTemplate, Plus } from "lucide-react";
import { useState } from "react";
import { Button, Input } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import { usePanels } from "@/lib/panels";
import { useRequests } from "@/lib/requests";
import type { Stage } from "./model/stage";
import { useView } from "./model/view";

/** What floats further left than this was put there on purpose. */
const MOST_COVERED = 560;

/** A flow with nothing in it: three ways to begin, for who may. */
export function EmptyCanvas({ stage }: { stage: Stage }) {
  const editable = useDraft((state) => state.editable);
  const covered = usePanels(({ floatsFrom, taken }) => (floatsFrom ? window.innerWidth - taken - floatsFrom : 0));
  return (
    <div
      className="pointer-events-none absolute inset-0 z-10 flex items-center justify-center p-4"
      style={covered > 0 && covered < MOST_COVERED ? { paddingRight: covered + 16 } : undefined}
    >
      {editable ? <Beginnings stage={stage} /> : <NothingYet t={stage.t} />}
    </div>
  );
}

/** For somebody who may look only. */
function NothingYet({ t }: Pick<Stage, "t">) {
  return (
    <div className="max-w-md animate-fade text-center">
      <h2 className="text-lg font-semibold">{t("empty_viewer")}</h2>
      <p className="mt-1 text-sm text-muted">{t("empty_viewer_more")}</p>
    </div>
  );
}

function Beginnings({ stage }: { stage: Stage }) {
  const t = stage.t;
  const [text, setText] = useState("");
  const ask = () => {
    if (text.trim()) useRequests.getState().requestAsk(text.trim(), true);
    setText("");
  };
  return (
    <div className="pointer-events-auto w-full max-w-md animate-fade rounded-xl border border-line bg-raised p-6 shadow-card">
      <h2 className="text-lg font-semibold">{t("empty_title")}</h2>
      <p className="mt-1 text-sm text-muted">{t("empty_more")}</p>
      <form
        className="mt-4 flex gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          ask();
        }}
      >
        <Input
          aria-label={t("say")}
          placeholder={t("say_example")}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <Button kind="primary" type="submit" icon={<ArrowRight />} disabled={!text.trim()}>
          {t("build")}
        </Button>
      </form>
      <div className="mt-3 flex flex-wrap gap-2">
        <Button
          icon={<Plus />}
          onClick={() => useView.getState().set({ adding: { kind: "node", screen: null, at: null } })}
        >
          {t("add_first")}
        </Button>
        <Link
          to="/templates"
          className="inline-flex h-8 items-center gap-2 rounded-md px-3 font-medium text-muted hover:bg-hover hover:text-ink [&_svg]:size-4"
        >
          <LayoutTemplate aria-hidden />
          {t("take_template")}
        </Link>
      </div>
    </div>
  );
}
