import { invalid, invalidField } from "../failure.ts";
import type { Secret } from "../secret.ts";
import { serviceKeyProblem } from "./service_variables.ts";

/** An environment variable of a project. The value of a secret one is `null` except for deployments. */
export interface Variable {
  /** `NAME` for every service, or `SERVICE/NAME` for one. */
  readonly key: string;
  readonly value: string | null;
  readonly secret: boolean;
  readonly updatedAt: Date;
}

/** A variable to write; its value is wrapped as a `Secret` until it is stored. */
export interface VariableUpsert {
  readonly key: string;
  readonly value: Secret;
  /** `undefined` keeps the flag of an existing variable; a new one is not secret. */
  readonly secret: boolean | undefined;
}

/** The number of variables in one of a project's sets, and the size of their values in UTF-8 bytes. */
export interface VariableTotals {
  readonly count: number;
  readonly bytes: number;
}

export const VARIABLE_LIMITS: VariableTotals = { count: 1_000, bytes: 1_048_576 };

const KEY = /^[A-Za-z_][A-Za-z0-9_]{0,254}$/;

/** Returns whether a string is the valid key of a variable for every service: one that a shell accepts. */
export function isVariableKey(text: string): boolean {
  return KEY.test(text);
}

/** Says what is wrong with the key of a variable, for every service or for one; `undefined` for a valid one. */
export function variableKeyProblem(key: string): string | undefined {
  if (key.includes("/")) return serviceKeyProblem(key);
  if (isVariableKey(key)) return undefined;
  return 'use letters, digits and _, not beginning with a digit; for one service only, write "SERVICE/NAME"';
}

/** Throws for invalid keys, and for duplicate ones. */
export function checkVariableKeys(upserts: readonly string[], deletes: readonly string[]): void {
  const seen = new Set<string>();
  const named: (readonly [string, string])[] = [
    ...upserts.map((key, index) => [`upserts.${index}.key`, key] as const),
    ...deletes.map((key, index) => [`deletes.${index}`, key] as const),
  ];
  for (const [path, key] of named) {
    const problem = variableKeyProblem(key);
    if (problem !== undefined) throw invalidField(path, problem);
    if (seen.has(key)) throw invalidField(path, "this key is named more than once");
    seen.add(key);
  }
}

/** Throws for a change after which a set would have more variables than can be listed and passed to a program. */
export function checkVariableTotals({ count, bytes }: VariableTotals): void {
  if (count > VARIABLE_LIMITS.count) {
    const much = `an environment of a project has at most ${VARIABLE_LIMITS.count}, and this would make ${count}`;
    throw invalid("too_many_variables", `Cannot write these variables: ${much}. Delete some first`);
  }
  if (bytes > VARIABLE_LIMITS.bytes) {
    const much = `the values of an environment have at most ${VARIABLE_LIMITS.bytes} bytes, and this would make ${bytes}`;
    throw invalid("variables_too_large", `Cannot write these variables: ${much}. Keep large values in files`);
  }
}

/** Returns the size of a value as counted for the limits, in bytes. */
export function valueBytes({ value }: { readonly value: Secret }): number {
  return new TextEncoder().encode(value.reveal()).length;
}

/** Returns whether two sets of variables have the same keys and values. */
export function sameValues(one: ReadonlyMap<string, Secret>, other: ReadonlyMap<string, Secret>): boolean {
  if (one.size !== other.size) return false;
  return Array.from(one).every(([key, value]) => other.get(key)?.reveal() === value.reveal());
}
