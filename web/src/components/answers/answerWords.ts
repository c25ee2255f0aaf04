import { useAnswerTexts } from "./texts";

/** An answer as text. */
export function useAnswerWords() {
  const t = useAnswerTexts();
  return (answer: unknown): string => {
    if (typeof answer === "boolean") return t(answer ? "yes" : "no");
    if (Array.isArray(answer)) return answer.map(String).join(", ");
    return typeof answer === "object" ? JSON.stringify(answer) : String(answer);
  };
}
