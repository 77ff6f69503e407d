/** Words in names of values that should be secret. */
const SECRET_NAME =
  /pass(?:word|wd|phrase|code)?(?:$|[_.-]|\d)|passw|secret|token|credential|private|api[_-]?key|access[_-]?key|(?:^|[_.-])(?:key|pwd|pw|auth|authorization|salt|pepper|dsn|jwt|otp|pin|seed|license|licence|cookie|signature|cert)(?:$|[_.-])|(?:signing|encryption|master|admin|app|license|ssh|hmac|aes|rsa|session|auth|deploy|server|client|shared|account|storage)[_-]?key|webhook|connection_?string|htpasswd/i;
/** Names that end in such a word, but say where a secret is, or something about it. */
const NO_SECRET_NAME =
  /(?:_FILE|_PATH|_DIR|_URL_PREFIX|_TTL|_EXPIRY|_EXPIRES(?:_IN)?|_LENGTH|_TYPE|_NAME|_ENABLED|_ALGORITHM|_HEADER|_METHOD|_MODE)$/i;
const SECRET_VALUES = [
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----/,
  /(?:^|[\s"'=:])eyJ[\w-]{8,}\.[\w-]{8,}/,
  /(?:^|[\s"'=:])(?:gh[opsur]_|github_pat_|glpat-|xox[abposr]-|sk-|sk_(?:live|test)_|rk_live_|AKIA|ASIA|AIza|SG\.|dop_v1_|npm_|hf_|slp_|tskey-)\w/,
  /\$(?:2[aby]|argon2[a-z]{0,2}|5|6|apr1)\$\S/,
];
/** The shortest text without spaces that looks made up by a machine. */
const RANDOM_LENGTH = 20;
const HIDDEN = "***";
/** Longer texts are cut: they come from other machines, and looking through megabytes would stop this one. */
const LONGEST = 4_096;

/*
 * What is scanned comes from other machines. Every repetition in a pattern that may start anywhere is therefore bounded,
 * or cannot start again inside its own match: time grows with the length of the text, not with its square.
 */

/** `scheme://user:password@`; a number and a slash after the colon are a port. */
const ADDRESS = /([a-z][a-z0-9+.-]{0,30}:\/\/[^\s/?#:@]{0,200}:)(?!\d{1,5}[/?#])([^\s"']{1,500})@/gi;
/** `scheme://token@`. */
const ADDRESS_TOKEN = /([a-z][a-z0-9+.-]{0,30}:\/\/)([^\s/?#:@]{16,500})@/gi;
/** `--password=…`, `PASSWORD=…`, `?token=…`. */
const ASSIGNMENT = /((?:^|[\s"'`;&?({,])-{0,2}([\w.-]{1,200}))=("[^"]{0,9999}"|'[^']{0,9999}'|[^\s;&|]+)/g;
/** `"password": "…"`, `Authorization: …`. */
const FIELD =
  /([\w-]{0,40}(?:password|passwd|secret|token|api[_-]?key|private[_-]?key|authorization)[\w-]{0,40}["']?\s{0,9}:\s{0,9})(?!\/\/)("[^"]{0,9999}"|'[^']{0,9999}'|[^"'\n,}]+)/gi;
/** `--password …`, in the words of a shell. */
const OPTION =
  /(\s--?[\w-]{0,40}(?:pass|password|passwd|secret|token|requirepass|api-?key)[\w-]{0,40}\s+)(?!-)("[^"]{0,9999}"|'[^']{0,9999}'|\S+)/gi;
/** `-u user:password`. */
const USER = /((?:^|\s)(?:-u|--user)[\s=][^\s:]{1,100}:)(\S+)/g;
/** Short options with passwords: `redis-cli -a …`, `mysql -p…`. */
const REDIS = /(\bredis-cli\b[^\n|;&]{0,200}?\s(?:-a|--pass)\s+)(\S+)/g;
const MYSQL = /(\b(?:mysql|mariadb)(?:admin|dump|check)?\b[^\n|;&]{0,200}?\s-p)(?!\s|$)(\S+)/g;

/** Returns whether a variable looks like a secret, by its name or by its value. When in doubt, it does. */
export function looksSecret(name: string, value: string): boolean {
  return isSecret(name, value) || maskedText(value) !== value;
}

function isSecret(name: string, value: string): boolean {
  if (value === "") return false;
  if (value.length > LONGEST) return true;
  if (SECRET_NAME.test(name.slice(0, LONGEST)) && !NO_SECRET_NAME.test(name) && !isPlain(value)) return true;
  return SECRET_VALUES.some((pattern) => pattern.test(value)) || isRandom(value);
}

/** A value that no secret has. */
function isPlain(value: string): boolean {
  return /^(?:true|false|yes|no|on|off|null|none)$/i.test(value);
}

/** Returns whether a text looks random: one long word in which the kinds of characters change often. */
function isRandom(value: string): boolean {
  if (value.length < RANDOM_LENGTH || !/^[A-Za-z0-9+/=_-]+$/.test(value)) return false;
  if (value.startsWith("/")) return false;
  const changes = [...value.matchAll(/[a-z](?=[A-Z0-9])|[A-Z](?=[0-9])|[0-9](?=[A-Za-z])/g)].length;
  return changes >= value.length / 8;
}

/** Hides what looks like a secret in the words of a command: values of options, and passwords in addresses. */
export function maskedWords(words: readonly string[]): readonly string[] {
  const program = words.find((word) => /(?:^|\/)(?:redis-cli|mysql|mariadb)/.test(word)) ?? "";
  return words.map((word, index) => {
    const before = words[index - 1] ?? "";
    if (isSecretOption(before) && !word.startsWith("-")) return HIDDEN;
    if (before === "-a" && program.includes("redis-cli")) return HIDDEN;
    if (word.length > 2 && word.startsWith("-p") && /mysql|mariadb/.test(program)) return `-p${HIDDEN}`;
    if (before === "-u" || before === "--user") return word.replace(/^([^:]+:).+$/s, `$1${HIDDEN}`);
    return isSecret("", word) ? HIDDEN : maskedText(word);
  });
}

function isSecretOption(word: string): boolean {
  return (
    /^--?[a-z]/i.test(word) && !word.includes("=") && SECRET_NAME.test(word.replace(/^-+/, "").replaceAll("-", "_"))
  );
}

/** Hides what looks like a secret in a text: `--password=…`, `PASSWORD=…`, passwords in addresses. Cuts a long text. */
export function maskedText(text: string): string {
  if (text.length > LONGEST) return `${maskedText(text.slice(0, LONGEST))}…`;
  return text
    .replaceAll(ADDRESS, `$1${HIDDEN}@`)
    .replaceAll(ADDRESS_TOKEN, `$1${HIDDEN}@`)
    .replaceAll(ASSIGNMENT, (whole, start: string, name: string, value: string) =>
      isSecret(name.replaceAll("-", "_"), value.replaceAll(/^["']|["']$/g, "")) ? `${start}=${HIDDEN}` : whole,
    )
    .replaceAll(FIELD, `$1${HIDDEN}`)
    .replaceAll(OPTION, `$1${HIDDEN}`)
    .replaceAll(USER, `$1${HIDDEN}`)
    .replaceAll(REDIS, `$1${HIDDEN}`)
    .replaceAll(MYSQL, `$1${HIDDEN}`);
}

/** Hides the value of a label that looks like a secret, or secrets in it. */
export function maskedLabel(name: string, value: string): string {
  const lastWord = name.split(".").at(-1) ?? name;
  return isSecret(lastWord, value) || /basicauth\.users$/i.test(name) ? HIDDEN : maskedText(value);
}
