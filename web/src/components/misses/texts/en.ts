export default {
  contains: "does not contain “{{text}}”",
  excludes: "contains “{{text}}”",
  equals: "is not “{{text}}”",
  matches: "does not match {{text}}",
  no_json: "is not valid JSON",
  schema: "does not match the schema: {{text}}",
  empty: "is empty",
};
