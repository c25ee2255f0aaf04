export default {
  contains: "does not contain “{{text}}”",
  excludes: "contains “{{text}}”",
  equals: "is not “{{text}}”",
  matches: "has nothing that matches {{text}}",
  no_json: "is not JSON",
  schema: "does not satisfy its schema: {{text}}",
  empty: "is empty",
};
