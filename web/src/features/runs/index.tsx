export { FlowRunsPage, RunsPage } from "./history/pages";
export { RunPage } from "./page/RunPage";
export { RunPanel } from "./panel/RunPanel";
