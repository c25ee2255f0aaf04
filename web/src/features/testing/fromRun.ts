import type { TestCase } from "@/api/queries/tests";
import type { RunOut } from "@/api/types";

/** A test that somebody may want, and what the run answered that it is made of. */
export interface Proposal {
  test: TestCase;
  answer: string;
}

const LONGEST_NAME = 60;

/** A test with what a run was given. */
export function caseOf(run: RunOut, fallback: string): Proposal {
  const text = run.input.text;
  const line = text.trim().split("\n")[0] ?? "";
  const name = line.length > LONGEST_NAME ? `${line.slice(0, LONGEST_NAME - 1)}…` : line;
  const answer = run.output?.text;
  return {
    test: { name: name || fallback, text, form: run.input.form_data, file_ids: looseFiles(run), expect: {} },
    answer: typeof answer === "string" ? answer : "",
  };
}

/** Files that stood beside the text: a run lists those that the form was answered with too. */
function looseFiles({ input }: RunOut): string[] {
  const answers = new Set(Object.values(input.form_data).flat());
  return input.file_ids.filter((id) => !answers.has(id));
}
