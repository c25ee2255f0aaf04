export { TestsPage } from "./TestsPage";
