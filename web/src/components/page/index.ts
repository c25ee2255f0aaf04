export { Page } from "./Page";
