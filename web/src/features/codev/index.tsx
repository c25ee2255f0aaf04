export { SessionsPage } from "./list/SessionsPage";
export { SessionPage } from "./page/SessionPage";
export { StartPage } from "./start/StartPage";
