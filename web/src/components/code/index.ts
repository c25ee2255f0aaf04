export { CodeEditor } from "./CodeEditor";
export type { CodeLanguage, Diagnostic } from "./types";
