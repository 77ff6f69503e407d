const PREFIX = "prepare-";

/** A name for the folder of a source that is only looked at; no deployment has it, and it tells when it was made. */
export function preparedFolder(at: Date): string {
  return `${PREFIX}${at.getTime()}-${crypto.randomUUID()}`;
}

/** When a folder was made that holds a source to look at; the beginning of time for one that does not tell, `undefined` for any other folder. */
export function preparedAt(name: string): Date | undefined {
  if (!name.startsWith(PREFIX)) return undefined;
  const [, time] = /^prepare-(\d{1,15})-[0-9a-f-]{36}$/.exec(name) ?? [];
  return new Date(Number(time ?? 0));
}
