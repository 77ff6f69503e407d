import { isLoginExpired, type UsableSource } from "./usable_sources.ts";

/**
 * Asks every source and returns what each has, in their order. Leaves out sources whose login has expired, unless no other
 * one is left. Any other failure fails the whole: it would look as if something were gone.
 */
export async function throughAll<T>(
  sources: readonly UsableSource[],
  ask: (source: UsableSource) => Promise<T>,
): Promise<readonly T[]> {
  let expired: unknown;
  const answers = await Promise.all(
    sources.map(async (source) => {
      try {
        return [await ask(source)];
      } catch (error) {
        if (!isLoginExpired(error)) throw error;
        expired ??= error;
        return [];
      }
    }),
  );
  const found = answers.flat();
  if (found.length === 0 && expired) throw expired;
  return found;
}
