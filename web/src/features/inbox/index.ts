export { InboxPage } from "./InboxPage";
