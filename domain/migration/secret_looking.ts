/** Words in names of values that should be secret. */
const SECRET_NAME =
  /pass(?:word|wd|phrase|code)?(?:$|[_.-]|\d)|passw|secret|token|credential|private|api_?key|access_?key|(?:^|[_.-])(?:key|pwd|pw|auth|salt|pepper|dsn|jwt|otp|pin|seed|license|licence|cookie|signature|cert)(?:$|[_.-])|(?:signing|encryption|master|admin|app|license|ssh|hmac|aes|rsa|session)_?key|webhook|connection_?string|htpasswd/i;
/** Names that end in such a word, but say where a secret is, or something about it. */
const NO_SECRET_NAME =
  /(?:_FILE|_PATH|_DIR|_URL_PREFIX|_TTL|_EXPIRY|_EXPIRES(?:_IN)?|_LENGTH|_TYPE|_NAME|_ENABLED|_ALGORITHM|_HEADER|_METHOD|_MODE)$/i;
const URL_PASSWORD = /^([a-z][a-z0-9+.-]*:\/\/[^\s/?#:@]*):([^\s/?#]+)@/i;
const SECRET_VALUES = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /^eyJ[\w-]{8,}\.[\w-]{8,}/,
  /^(?:gh[opsur]_|github_pat_|glpat-|xox[abposr]-|sk-|sk_(?:live|test)_|rk_live_|AKIA|ASIA|AIza|SG\.|dop_v1_|npm_|hf_|slw_)/,
  /^\$(?:2[aby]|argon2[a-z]*|5|6|apr1)\$/,
  /(?:^|[;&?\s])(?:password|pwd|secret|token|api_?key|sig|sharedaccesskey|accountkey)=[^;&\s]+/i,
];
/** The shortest text without spaces that looks made up by a machine. */
const RANDOM_LENGTH = 20;
const HIDDEN = "***";

/** Returns whether a variable looks like a secret, by its name or by its value. When in doubt, it does. */
export function looksSecret(name: string, value: string): boolean {
  if (value === "") return false;
  if (SECRET_NAME.test(name) && !NO_SECRET_NAME.test(name) && !isPlain(value)) return true;
  return URL_PASSWORD.test(value) || SECRET_VALUES.some((pattern) => pattern.test(value)) || isRandom(value);
}

/** A value that no secret has. */
function isPlain(value: string): boolean {
  return /^(?:true|false|yes|no|on|off|null|none)$/i.test(value);
}

/** Returns whether a text looks random: one long word with digits and letters mixed, which is no path, name or version. */
function isRandom(value: string): boolean {
  if (value.length < RANDOM_LENGTH || !/^[A-Za-z0-9+/=_-]+$/.test(value)) return false;
  if (/^(?:\/|\.)/.test(value) || /^[a-z]+(?:[-_/][a-z]+)+$/i.test(value)) return false;
  const changes = [...value.matchAll(/[a-z](?=[0-9])|[0-9](?=[a-z])|[a-z](?=[A-Z]{2})/gi)].length;
  return changes >= value.length / 8;
}

/** Hides what looks like a secret in the words of a command: values of options, and passwords in addresses. */
export function maskedWords(words: readonly string[]): readonly string[] {
  return words.map((word, index) => {
    const before = words[index - 1] ?? "";
    if (isSecretOption(before) && !word.startsWith("-")) return HIDDEN;
    return maskedText(word);
  });
}

function isSecretOption(word: string): boolean {
  return (
    /^--?[a-z]/i.test(word) && !word.includes("=") && SECRET_NAME.test(word.replace(/^-+/, "").replaceAll("-", "_"))
  );
}

/** Hides what looks like a secret in a text: `--password=…`, `PASSWORD=…`, passwords in addresses. */
export function maskedText(text: string): string {
  return text
    .replaceAll(/([a-z][a-z0-9+.-]*:\/\/[^\s/?#:@]*):([^\s/?#@]+)@/gi, `$1:${HIDDEN}@`)
    .replaceAll(
      /((?:^|[\s"';&])-{0,2}([\w.-]+))=("[^"]*"|'[^']*'|[^\s;&|]+)/g,
      (whole, start: string, name: string, value: string) =>
        looksSecret(name.replaceAll("-", "_"), value.replaceAll(/^["']|["']$/g, "")) ? `${start}=${HIDDEN}` : whole,
    )
    .replaceAll(
      /(\s--?[\w-]*(?:pass|password|passwd|secret|token|requirepass|api-?key)[\w-]*\s+)(?!-)(\S+)/gi,
      `$1${HIDDEN}`,
    );
}

/** Hides the value of a label that looks like a secret, or secrets in it. */
export function maskedLabel(name: string, value: string): string {
  const lastWord = name.split(".").at(-1) ?? name;
  return looksSecret(lastWord, value) || /basicauth\.users$/i.test(name) ? HIDDEN : maskedText(value);
}
