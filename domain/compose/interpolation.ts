const NAME = /^[A-Za-z_][A-Za-z0-9_]*/;
const OPERATORS = [":-", ":?", ":+", "-", "?", "+"] as const;
const MAX_DEPTH = 20;

/** The characters that interpolation may still process, over all values together. */
export interface ExpansionBudget {
  left: number;
}

/** An interpolated text, or an error; `missing` is the required variable that is not set. */
export type Interpolated = { readonly value: string } | Wrong;
type Wrong = { readonly wrong: string; readonly missing?: string };

/** Looks up the values of variables. */
export interface Variables {
  get(name: string): string | undefined;
}

/** Options for interpolation. */
export interface Interpolation {
  readonly variables: Variables;
  readonly budget: ExpansionBudget;
  /** Called for each variable that is not set and has no default. */
  readonly unset: (name: string) => void;
}

/**
 * Interpolates variables: `$A`, `${A}`, `${A:-x}`, `${A-x}`, `${A:?why}`, `${A?why}`, `${A:+x}`, `${A+x}`, and `$$` for
 * `$`. A `$` that no name follows also stays a `$`. Errors never show the value of a variable.
 */
export function interpolated(text: string, by: Interpolation, depth = 0): Interpolated {
  if (!text.includes("$")) return { value: text };
  by.budget.left -= text.length;
  if (depth > MAX_DEPTH) return { wrong: "its variables have too many defaults inside each other" };
  let value = "";
  let at = 0;
  while (at < text.length) {
    const sign = text.indexOf("$", at);
    if (sign < 0) break;
    value += text.slice(at, sign);
    const piece = pieceAt(text, sign, { by, depth });
    if ("wrong" in piece) return piece;
    value += piece.text;
    at = piece.end;
    by.budget.left -= piece.text.length;
    if (by.budget.left < 0) return { wrong: "the values of its variables are too long" };
  }
  return { value: value + text.slice(at) };
}

type Piece = { readonly text: string; readonly end: number } | Wrong;
type Inside = { readonly by: Interpolation; readonly depth: number };

function pieceAt(text: string, sign: number, { by, depth }: Inside): Piece {
  const next = text[sign + 1];
  if (next === "$") return { text: "$", end: sign + 2 };
  if (next === "{") {
    const end = closingBrace(text, sign + 2);
    if (end === undefined) return { wrong: 'a "${" is not closed by "}"' };
    const inner = braced(text.slice(sign + 2, end), { by, depth });
    return "wrong" in inner ? inner : { text: inner.value, end: end + 1 };
  }
  const [name] = NAME.exec(text.slice(sign + 1, sign + 300)) ?? [];
  if (name === undefined) return { text: "$", end: sign + 1 };
  return { text: valueOf(name, by), end: sign + 1 + name.length };
}

function valueOf(name: string, { variables, unset }: Interpolation): string {
  const value = variables.get(name);
  if (value === undefined) unset(name);
  return value ?? "";
}

/** The position of the brace that closes the one before `from`, skipping nested ones. */
function closingBrace(text: string, from: number): number | undefined {
  let open = 1;
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === "$" && text[at + 1] === "$") at += 1;
    else if (text[at] === "$" && text[at + 1] === "{") {
      open += 1;
      at += 1;
    } else if (text[at] === "}") {
      open -= 1;
      if (open === 0) return at;
    }
  }
  return undefined;
}

function braced(inner: string, { by, depth }: Inside): Interpolated {
  const [name] = NAME.exec(inner) ?? [];
  if (name === undefined) return { wrong: 'no variable name follows a "${". Write "$$" for a literal "$"' };
  const rest = inner.slice(name.length);
  if (rest === "") return { value: valueOf(name, by) };
  const operator = OPERATORS.find((one) => rest.startsWith(one));
  if (operator === undefined) return { wrong: `\${${name}} has a character after its name that is not allowed there` };
  const word = rest.slice(operator.length);
  const value = by.variables.get(name);
  const given = operator.startsWith(":") ? value !== undefined && value !== "" : value !== undefined;
  if (operator.endsWith("+")) return given ? interpolated(word, by, depth + 1) : { value: "" };
  if (given) return { value: value ?? "" };
  if (operator.endsWith("-")) return interpolated(word, by, depth + 1);
  // The message is not interpolated: it could show the value of another variable.
  const why = word.trim() === "" ? "" : ` (${word.trim().slice(0, 200)})`;
  const wrong = `the variable ${name} is not set${why}. Set it among the variables of the project`;
  return { wrong, missing: name };
}
