/** A copy with the fields that are given in the place of the former ones; an `undefined` one is not given. */
export function withGiven<T extends object>(
  former: T,
  given: { readonly [Field in keyof T]?: T[Field] | undefined },
): T {
  const defined = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...former, ...Object.fromEntries(defined) };
}
