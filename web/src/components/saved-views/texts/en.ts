export default {
  views: "Views",
  no_views: "No saved views yet",
  save_view: "Save this view…",
  save: "Save",
  name: "Name",
  name_more: "A view of the same name is replaced. Only you see your views.",
  saved: "View saved",
  delete_view: "Delete the view “{{name}}”",
  failed: "The view was not saved",
};
