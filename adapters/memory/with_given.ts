/** Returns a copy with the given fields replaced. `undefined` fields do not count as given. */
export function withGiven<T extends object>(
  former: T,
  given: { readonly [Field in keyof T]?: T[Field] | undefined },
): T {
  const defined = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...former, ...Object.fromEntries(defined) };
}
