export { type Shown, shownIssue } from "./fixes";
export { IssueLine } from "./IssueLine";
