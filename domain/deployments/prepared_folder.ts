const PREFIX = "prepare-";

/**
 * Returns a name for the folder of a source that is only inspected; it encodes its creation time and never equals a
 * deployment id.
 */
export function preparedFolder(at: Date): string {
  return `${PREFIX}${at.getTime()}-${crypto.randomUUID()}`;
}

/**
 * Returns the creation time of an inspected source's folder; the epoch if the name has none, `undefined` for any other
 * folder.
 */
export function preparedAt(name: string): Date | undefined {
  if (!name.startsWith(PREFIX)) return undefined;
  const [, time] = /^prepare-(\d{1,15})-[0-9a-f-]{36}$/.exec(name) ?? [];
  return new Date(Number(time ?? 0));
}
