import { Elysia } from "elysia";
import type { Permission, Principal } from "../domain/identity/permission.ts";
import type { Operation } from "./operation.ts";

/** The permission that a route requires; `self` requires only an authenticated caller. */
export type NeededPermission = Permission | "self";

/** Facts about a request that the gate establishes before the route runs. */
export interface Caller {
  readonly principal: Principal | undefined;
  /** The permission that was checked; `undefined` on an open route. */
  readonly permission: NeededPermission | undefined;
  /** The client's IP address, as seen through trusted proxies. */
  readonly address: string;
  /** Whether the request used TLS. */
  readonly secure: boolean;
  readonly requestId: string;
}

const callers = new WeakMap<Request, Caller>();

/** Makes the caller of a request available to its route. */
export function admit(request: Request, caller: Caller): void {
  callers.set(request, caller);
}

/** Returns the id of an admitted request, for error reports. */
export function idOf(request: Request): string {
  return callers.get(request)?.requestId ?? "";
}

export type Access = ReturnType<typeof access>;

/**
 * Defines the route macros `permission: "…"` and `open: "why"`. The gate enforces them before anything of the request
 * is read.
 */
export function access() {
  return new Elysia({ name: "http/access" }).macro({
    permission: (needed: NeededPermission) => ({
      detail: { "x-permission": needed } as Record<`x-${string}`, unknown>,
      resolve({ request }) {
        const caller = callers.get(request);
        // Fail closed: a route must not run without the gate or with another route's permission.
        if (!caller?.principal || caller.permission !== needed)
          throw new Error("This route was reached without passing the gate");
        return { caller, principal: caller.principal };
      },
    }),
    open: (reason: string) => ({
      detail: { "x-open": reason } as Record<`x-${string}`, unknown>,
      resolve({ request }) {
        return { caller: callers.get(request) ?? ANONYMOUS };
      },
    }),
  });
}

const ANONYMOUS: Caller = {
  principal: undefined,
  permission: undefined,
  address: "unknown",
  secure: false,
  requestId: "",
};

interface Routed {
  readonly routes: readonly { readonly method: string; readonly path: string; readonly hooks: object }[];
}

/** A route with the access it declares. */
export interface DeclaredRoute {
  readonly method: string;
  readonly path: string;
  readonly permission: NeededPermission | undefined;
  readonly open: string | undefined;
  readonly operation: Operation;
  readonly hooks: object;
}

/** Lists each route with its declared access. Throws, which stops the start, when a route declares none. */
export function declaredRoutes(app: Routed): DeclaredRoute[] {
  return app.routes.map(({ method, path, hooks }) => {
    const detail = ("detail" in hooks ? hooks.detail : {}) as Record<string, unknown>;
    const permission = detail["x-permission"] as NeededPermission | undefined;
    const open = detail["x-open"] as string | undefined;
    const operation = detail["x-operation"] as Operation | undefined;
    if (!operation || (permission === undefined) === (open === undefined)) {
      throw new Error(`Route ${method} ${path} must declare an operation and either a permission or why it is open`);
    }
    return { method, path, permission, open, operation, hooks };
  });
}
