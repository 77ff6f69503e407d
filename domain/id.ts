const PREFIXES = ["aud", "bkd", "dep", "dom", "inv", "org", "prj", "ses", "srv", "tok", "upl", "usr"] as const;

/** The kind of resource that an id names; each kind has its own prefix. */
export type IdPrefix = (typeof PREFIXES)[number];

const KINDS: ReadonlySet<string> = new Set(PREFIXES);
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const ID = /^[a-z]{3}_[0-9a-z]{20,40}$/;

/** Returns a new id: the prefix, 10 characters that sort by time, and 16 random ones (80 bits). */
export function newId(prefix: IdPrefix, at: Date = new Date()): string {
  let time = Math.max(0, at.getTime());
  let ordered = "";
  for (let index = 0; index < 10; index++) {
    ordered = `${ALPHABET[time % 32]}${ordered}`;
    time = Math.floor(time / 32);
  }
  const random = crypto.getRandomValues(new Uint8Array(16));
  return `${prefix}_${ordered}${Array.from(random, (byte) => ALPHABET[byte % 32]).join("")}`;
}

/** Returns whether a string has the format of an id of this kind; ids in other formats name nothing. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && ID.test(text);
}

/** Returns whether a string has the format of an id of any kind; access tokens do not. */
export function isAnyId(text: string): boolean {
  return KINDS.has(text.slice(0, 3)) && ID.test(text);
}
