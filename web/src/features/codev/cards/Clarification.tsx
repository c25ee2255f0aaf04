import { Button, Field, Textarea } from "@/components/ui";
import { answersText } from "../model/answers";
import { lines } from "../model/read";
import { useKept } from "../model/useKept";
import { useCodevTexts } from "../texts";
import { Answering, CardBody, CardFoot } from "./CardParts";
import type { CardProps } from "./props";

/** Questions, a field for each and one for whatever else there is to say. */
export function Clarification({ interrupt, answer }: CardProps) {
  const t = useCodevTexts();
  const questions = lines(interrupt.data?.questions);
  const [answers, setAnswers] = useKept<string[]>(interrupt.id, "answers", []);
  const [more, setMore] = useKept<string>(interrupt.id, "more", "");
  const text = answersText(questions, answers, more);
  const send = (words: string) => answer.mutate({ type: "clarification", text: words });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (text && !answer.isPending) send(text);
      }}
      onKeyDown={(event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit();
      }}
    >
      <CardBody>
        <Answering>
          {questions.map((question, at) => (
            <Field key={question} label={`${at + 1}. ${question}`}>
              {(control) => (
                <Textarea
                  {...control}
                  rows={2}
                  maxLength={4000}
                  value={answers[at] ?? ""}
                  onChange={(event) => {
                    const next = questions.map((_, place) => answers[place] ?? "");
                    next[at] = event.target.value;
                    setAnswers(next);
                  }}
                />
              )}
            </Field>
          ))}
          <Field label={questions.length > 0 ? t("more_to_say") : t("your_answer")}>
            {(control) => (
              <Textarea
                {...control}
                rows={2}
                maxLength={4000}
                value={more}
                onChange={(event) => setMore(event.target.value)}
              />
            )}
          </Field>
        </Answering>
      </CardBody>
      <CardFoot>
        <Button type="submit" kind="primary" disabled={!text} busy={answer.isPending}>
          {t("answer")}
        </Button>
        <Button disabled={answer.isPending} onClick={() => send("")}>
          {t("go_on_without")}
        </Button>
      </CardFoot>
    </form>
  );
}
