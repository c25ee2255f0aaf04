/** What a record holds under a name that somebody chose: `toString` and `constructor` are names too. */
export const own = <Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined;
