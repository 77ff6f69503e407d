/**
 * Returns a copy of a port, one method of which runs inside `around`, which gets the original call and its arguments.
 */
export function intercepted<Port extends object>(
  port: Port,
  method: keyof Port,
  around: (proceed: () => unknown, given: readonly unknown[]) => unknown,
): Port {
  return new Proxy(port, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      if (name !== method) return member.bind(target);
      return (...given: unknown[]) => around(() => member.apply(target, given), given);
    },
  });
}
