const PREFIX = "prepare-";

/** Returns a name for the folder of a source that is only inspected: no deployment id, and with its creation time. */
export function preparedFolder(at: Date): string {
  return `${PREFIX}${at.getTime()}-${crypto.randomUUID()}`;
}

/** Returns when an inspected source's folder was created; the epoch if unknown, `undefined` for any other folder. */
export function preparedAt(name: string): Date | undefined {
  if (!name.startsWith(PREFIX)) return undefined;
  const [, time] = /^prepare-(\d{1,15})-[0-9a-f-]{36}$/.exec(name) ?? [];
  return new Date(Number(time ?? 0));
}
