/** Answers to numbered questions as one text; those that were left open are left out. */
export function answersText(questions: readonly string[], answers: readonly string[], more = ""): string {
  const said = questions.flatMap((question, at) => {
    const answer = answers[at]?.trim();
    return answer ? [`${at + 1}. ${question}\n${answer}`] : [];
  });
  return [...said, more.trim()].filter(Boolean).join("\n\n");
}
