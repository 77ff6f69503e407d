import type { Secret } from "../secret.ts";
import { MIN_FORM, secretForms } from "./secret_forms.ts";

const WORD = "[secret]";
const HASHES = 65_536;

/**
 * Returns a function that replaces every secret in a string, in each form that programs print it in (`secretForms`), by
 * `[secret]`; overlapping matches are replaced as one. Time is linear in the text and nearly independent of the number
 * of secrets.
 */
export function secretMask(secrets: Iterable<Secret>): (text: string) => string {
  const forms = new Set([...secrets].flatMap((secret) => secretForms(secret.reveal())));
  if (forms.size === 0) return (text) => text;
  const { filter, byHash } = tableOf(forms);
  const word = wordBeside(forms);
  return function (text) {
    let masked = "";
    let copied = 0;
    let start = -1;
    let end = -1;
    let hash = 0;
    for (let at = 0; at < text.length; at++) {
      hash = nextHash(hash, text.charCodeAt(at));
      if (filter[hash] === 0) continue;
      const from = at - MIN_FORM + 1;
      const form = byHash.get(hash)!.find((candidate) => text.startsWith(candidate, from));
      if (form === undefined || from < 0) continue;
      if (from >= end) {
        if (end !== -1) masked += text.slice(copied, start) + word;
        copied = Math.max(end, 0);
        start = from;
      }
      end = Math.max(end, from + form.length);
    }
    return end === -1 ? text : masked + text.slice(copied, start) + word + text.slice(end);
  };
}

/** Rolling hash of the last four characters; older ones are shifted out. */
function nextHash(hash: number, code: number): number {
  return ((hash << 4) ^ code) & (HASHES - 1);
}

/** Indexes the forms by the hash of their first four characters, longest first, with a filter of the used hashes. */
function tableOf(forms: Iterable<string>) {
  const filter = new Uint8Array(HASHES);
  const byHash = new Map<number, string[]>();
  for (const form of [...forms].sort((a, b) => b.length - a.length)) {
    let hash = 0;
    for (let at = 0; at < MIN_FORM; at++) hash = nextHash(hash, form.charCodeAt(at));
    filter[hash] = 1;
    byHash.set(hash, [...(byHash.get(hash) ?? []), form]);
  }
  return { filter, byHash };
}

/** Returns `[secret]`, unless it could be part of a secret or form one with adjacent text; then an unused character. */
function wordBeside(forms: ReadonlySet<string>): string {
  const all = [...forms];
  if (!all.some((form) => overlap(form, WORD))) return WORD;
  const used = new Set(all.join(""));
  let code = 0x2588;
  while (used.has(String.fromCharCode(code))) code++;
  return String.fromCharCode(code);
}

function overlap(form: string, word: string): boolean {
  if (form.includes(word) || word.includes(form)) return true;
  for (let length = 1; length < word.length; length++) {
    if (form.startsWith(word.slice(-length)) || form.endsWith(word.slice(0, length))) return true;
  }
  return false;
}
