/** The constraints of a schema on a number. */
export interface NumberSchema {
  readonly type?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
}

const KINDS: Readonly<Record<string, string>> = { integer: "a whole number", number: "a number" };

/**
 * Describes the numbers that a schema accepts, such as "a whole number from 1 to 100"; `undefined` for any other
 * schema.
 */
export function numberPhrase({ type, minimum, maximum, exclusiveMinimum }: NumberSchema): string | undefined {
  const kind = typeof type === "string" ? KINDS[type] : undefined;
  if (kind === undefined) return undefined;
  if (minimum !== undefined && maximum !== undefined) return `${kind} from ${minimum} to ${maximum}`;
  const bounds = [
    ...(minimum === undefined ? [] : [`of at least ${minimum}`]),
    ...(exclusiveMinimum === undefined ? [] : [`greater than ${exclusiveMinimum}`]),
    ...(maximum === undefined ? [] : [`of at most ${maximum}`]),
  ];
  return [kind, bounds.join(" and ")].join(" ").trimEnd();
}
