/** Memoizes a function without arguments: calls it only the first time. */
export function once<T>(ask: () => T): () => T {
  let answer: { readonly value: T } | undefined;
  return () => (answer ??= { value: ask() }).value;
}
