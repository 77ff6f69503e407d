const PREFIXES = ["aud", "bkd", "dep", "dom", "inv", "org", "prj", "ses", "srv", "tok", "upl", "usr"] as const;

/** What an id names; each kind has its own prefix. */
export type IdPrefix = (typeof PREFIXES)[number];

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const ID = /^[a-z]{3}_[0-9a-z]{20,40}$/;

/** Makes an id of 26 characters: ten that order by time, sixteen random ones (80 bits). */
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

/** Tells whether a text has the form of an id of this kind; ids of other forms cannot name anything. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && ID.test(text);
}

/** Tells whether a text has the form of an id of some kind; an access token has not. */
export function isAnyId(text: string): boolean {
  return PREFIXES.some((prefix) => isId(prefix, text));
}
