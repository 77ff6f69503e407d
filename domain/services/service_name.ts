const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

/** Returns whether a string can be the name of a service. */
export function isServiceName(text: string): boolean {
  return NAME.test(text);
}
