import { invalidField } from "./failure.ts";
import type { Secret } from "./secret.ts";

/** An environment variable of a project; a secret one's value is `null` to everybody but its deployments. */
export interface Variable {
  readonly key: string;
  readonly value: string | null;
  readonly secret: boolean;
  readonly updatedAt: Date;
}

/** A variable to write; its value is guarded until it is stored. */
export interface VariableUpsert {
  readonly key: string;
  readonly value: Secret;
  /** `undefined` leaves a known variable as secret as it is; a new one is not. */
  readonly secret: boolean | undefined;
}

const KEY = /^[A-Za-z_][A-Za-z0-9_]{0,254}$/;

/** Refuses keys that no shell would take, and keys named twice. */
export function checkVariableKeys(upserts: readonly string[], deletes: readonly string[]): void {
  const seen = new Set<string>();
  const named: (readonly [string, string])[] = [
    ...upserts.map((key, index) => [`upserts.${index}.key`, key] as const),
    ...deletes.map((key, index) => [`deletes.${index}`, key] as const),
  ];
  for (const [path, key] of named) {
    if (!KEY.test(key)) throw invalidField(path, "use letters, digits and _, not beginning with a digit");
    if (seen.has(key)) throw invalidField(path, "this key is named more than once");
    seen.add(key);
  }
}
