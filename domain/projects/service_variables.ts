import { isServiceName } from "../services/service_name.ts";

/** Programs in containers also have keys such as `spring.datasource-url`, which no shell can set. */
const NAME = /^[^\s=\p{Cc}\p{Cs}]{1,255}$/u;

/**
 * Says what is wrong with a key like `db/POSTGRES_PASSWORD`: the name of a service, and the name that the variable has
 * in it. Returns `undefined` for a valid one.
 */
export function serviceKeyProblem(key: string): string | undefined {
  const slash = key.indexOf("/");
  if (!isServiceName(key.slice(0, Math.max(slash, 0)))) {
    return 'name a service before the "/": up to 63 letters, digits, ".", "_" and "-", beginning with a letter or digit';
  }
  if (NAME.test(key.slice(slash + 1))) return undefined;
  return 'name the variable after the "/": up to 255 characters, without spaces, "=" and control characters';
}

/** Returns the variables that are for every service, and for builds and compose files. */
export function sharedVariables<Value>(environment: ReadonlyMap<string, Value>): ReadonlyMap<string, Value> {
  return new Map([...environment].filter(([key]) => !key.includes("/")));
}

/** Returns the variables that are for this service only, by the names that they have in it. */
export function ownVariables<Value>(
  environment: ReadonlyMap<string, Value>,
  service: string,
): ReadonlyMap<string, Value> {
  const start = `${service}/`;
  const own = [...environment].filter(([key]) => key.startsWith(start));
  return new Map(own.map(([key, value]) => [key.slice(start.length), value]));
}

/** Returns the variables that a service gets: its own take precedence over those for every service. */
export function variablesFor<Value>(
  environment: ReadonlyMap<string, Value>,
  service: string,
): ReadonlyMap<string, Value> {
  return new Map([...sharedVariables(environment), ...ownVariables(environment, service)]);
}
