import { Link } from "@tanstack/react-router";
import { FileUp, LayoutTemplate, Sparkles, SquareDashed } from "lucide-react";
import { type FormEvent, type KeyboardEvent, type RefObject, useState } from "react";
import { Button } from "@/components/ui";
import { useHomeTexts } from "../texts";
import { Refused } from "./Refused";
import type { Refusal } from "./useCreateFlow";

interface ComposerProps {
  input: RefObject<HTMLTextAreaElement | null>;
  busy: boolean;
  /** The answer to the last sentence, where nothing was built of it. */
  refusal: Refusal | undefined;
  onAsk: (sentence: string) => void;
  onEmpty: () => void;
  onFile: () => void;
  /** Somebody looks at a space in which they make nothing: what is made is their own. */
  elsewhere: boolean;
}

const EXAMPLES = ["example_mask", "example_csv", "example_lines", "example_answer"] as const;
const WAY =
  "inline-flex h-8 items-center gap-2 rounded-md px-2.5 text-sm text-muted hover:bg-hover hover:text-ink [&_svg]:size-4";

/** The way from a sentence to a flow, and the other ways. */
export function Composer({ input, busy, refusal, onAsk, onEmpty, onFile, elsewhere }: ComposerProps) {
  const t = useHomeTexts();
  const [text, setText] = useState("");
  const ask = () => text.trim() && !busy && onAsk(text.trim());
  const submit = (event: FormEvent) => {
    event.preventDefault();
    ask();
  };
  const key = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    ask();
  };
  const example = (words: string) => {
    setText(words);
    input.current?.focus();
  };
  return (
    <section aria-labelledby="ask" className="mx-auto w-full max-w-3xl pt-8 pb-2 sm:pt-12">
      <h1 id="ask" className="text-center text-2xl font-semibold tracking-tight sm:text-3xl">
        {t("ask_title")}
      </h1>
      <form
        onSubmit={submit}
        className="mt-5 rounded-xl border border-line-strong bg-raised shadow-card transition-shadow focus-within:border-accent focus-within:shadow-float"
      >
        <textarea
          ref={input}
          rows={2}
          value={text}
          maxLength={4000}
          aria-label={t("ask_label")}
          placeholder={t("ask_hint")}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={key}
          className="field-sizing-content block max-h-60 min-h-19 w-full resize-none rounded-xl bg-transparent px-4 pt-3.5 pb-2 text-lg outline-none placeholder:text-faint"
        />
        <div className="flex flex-wrap items-end justify-end gap-2 p-2.5 pt-0">
          <ul className="flex min-w-0 flex-1 basis-full flex-wrap gap-1.5 p-0.5 sm:basis-0">
            {EXAMPLES.map((one) => (
              <li key={one} className="min-w-0 max-w-full">
                <button
                  type="button"
                  onClick={() => example(t(one))}
                  className="min-h-7 max-w-full rounded-xl border border-line bg-surface px-3 py-1 text-left text-xs text-muted hover:border-line-strong hover:text-ink"
                >
                  {t(one)}
                </button>
              </li>
            ))}
          </ul>
          <Button kind="primary" type="submit" busy={busy} disabled={!text.trim()} icon={<Sparkles />}>
            {t("ask_go")}
          </Button>
        </div>
      </form>
      {refusal && !busy && <Refused refusal={refusal} onChoose={example} />}
      <div className="mt-3 flex flex-wrap items-center justify-center gap-x-1">
        <span className="px-2 text-sm text-muted">{t("others")}</span>
        <Link to="/templates" className={WAY}>
          <LayoutTemplate aria-hidden />
          {t("from_template")}
        </Link>
        <button type="button" className={WAY} onClick={onFile}>
          <FileUp aria-hidden />
          {t("from_file")}
        </button>
        <button type="button" className={WAY} onClick={onEmpty} disabled={busy}>
          <SquareDashed aria-hidden />
          {t("empty")}
        </button>
      </div>
      {elsewhere && <p className="mt-2 text-center text-sm text-muted">{t("made_elsewhere")}</p>}
    </section>
  );
}
