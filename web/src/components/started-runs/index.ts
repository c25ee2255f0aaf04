export { startedWords } from "./startedWords";
export { useStartedRunsTexts } from "./texts";
