export { InboxPage } from "./InboxPage";
export { ReviewPage } from "./review/ReviewPage";
