/** Shorter values are too common in ordinary output to be masked. */
export const MIN_FORM = 4;
/** The same for one line of a multi-line secret: a `true` or `null` in it reveals nothing. */
const MIN_LINE = 8;

/** Programs wrap long base64, so pieces of it are masked too. */
const WRAPPED = { longer: 48, piece: 16 } as const;
/** Logs truncate long lines, so pieces of very long values are masked too. */
const CUT = { longer: 2_048, piece: 256 } as const;

/**
 * Returns every string that a secret may be printed as: itself, its lines, and each of them in base64 at any offset,
 * hexadecimal, URL-encoded and JSON-escaped.
 */
export function secretForms(value: string): string[] {
  const forms = partsOf(value).flatMap((part) => [
    ...pieces(part, CUT),
    ...inJson(part).flatMap((form) => pieces(form, CUT)),
    ...inUrls(part).flatMap((form) => pieces(form, CUT)),
    ...inBase64(part),
    ...inHex(part).flatMap((form) => pieces(form, CUT)),
  ]);
  return [...new Set(forms)].filter((form) => form.length >= MIN_FORM);
}

/** Returns the value, the trimmed value and its lines. */
function partsOf(value: string): string[] {
  const trimmed = value.trim();
  const lines = trimmed.split(/[\r\n]+/).map((line) => line.trim());
  const long = lines.filter((line) => line.length >= MIN_LINE);
  return [value, trimmed, ...(lines.length > 1 ? long : [])].filter((part) => part.length >= MIN_FORM);
}

function inJson(part: string): string[] {
  const once = JSON.stringify(part).slice(1, -1);
  const ascii = once.replaceAll(/[^\x20-\x7e]/g, (character) => unicodeEscape(character));
  return [once, ascii, once.replaceAll("/", "\\/"), JSON.stringify(once).slice(1, -1)];
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function inUrls(part: string): string[] {
  const whole = part.toWellFormed();
  const component = encodeURIComponent(whole);
  const strict = component.replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const upper = [component, strict, encodeURI(whole)].flatMap((form) => [
    form,
    form.replaceAll("%20", "+"),
    form.replaceAll("%2F", "/"),
  ]);
  return upper.flatMap((form) => [form, form.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase())]);
}

/** Returns the complete base64, and the parts without the characters at both ends that depend on adjacent data. */
function inBase64(part: string): string[] {
  const bytes = new TextEncoder().encode(part);
  const inner = [0, 1, 2].flatMap((offset) => {
    const from = Math.ceil((offset * 8) / 6);
    const to = Math.floor(((offset + bytes.length) * 8) / 6);
    return pieces(base64(new Uint8Array([...new Uint8Array(offset), ...bytes])).slice(from, to), WRAPPED);
  });
  const standard = [base64(bytes), ...inner];
  return [...standard, ...standard.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"))];
}

function inHex(part: string): string[] {
  const lower = new TextEncoder().encode(part).toHex();
  return [lower, lower.toUpperCase()];
}

function base64(bytes: Uint8Array): string {
  return bytes.toBase64();
}

/** Returns a form, plus its pieces when it is long. */
function pieces(form: string, { longer, piece }: { readonly longer: number; readonly piece: number }): string[] {
  const found = [form];
  for (let from = 0; form.length > longer && from + piece <= form.length; from += piece) {
    found.push(form.slice(from, from + piece));
  }
  return found;
}
