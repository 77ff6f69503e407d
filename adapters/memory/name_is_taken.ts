interface Named {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
}

/** Returns whether another item of the organization has the name. `keyOf` normalizes names for comparison. */
export function nameIsTaken(
  all: Iterable<Named>,
  { id, organizationId, name }: Named,
  keyOf: (name: string) => string,
): boolean {
  return Iterator.from(all).some(
    (other) => other.id !== id && other.organizationId === organizationId && keyOf(other.name) === keyOf(name),
  );
}
