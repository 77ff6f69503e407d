import { Elysia } from "elysia";
import type { Permission, Principal } from "../domain/identity/permission.ts";
import type { Operation } from "./operation.ts";

/** What a route asks of its caller: a permission, or only to be identified. */
export type NeededPermission = Permission | "self";

/** What the gate found out about a request before its route runs. */
export interface Caller {
  readonly principal: Principal | undefined;
  /** The permission that was checked; none on an open route. */
  readonly permission: NeededPermission | undefined;
  /** Where the request came from, proxies seen through. */
  readonly address: string;
  /** Whether it travelled under TLS. */
  readonly secure: boolean;
  readonly requestId: string;
}

const callers = new WeakMap<Request, Caller>();

/** Lets routes of a request know its caller. */
export function admit(request: Request, caller: Caller): void {
  callers.set(request, caller);
}

/** The id of a request that was let in, for reports. */
export function idOf(request: Request): string {
  return callers.get(request)?.requestId ?? "";
}

export type Access = ReturnType<typeof access>;

/** Gives routes `permission: "…"` and `open: "why"`; the gate enforces them before anything of the request is read. */
export function access() {
  return new Elysia({ name: "http/access" }).macro({
    permission: (needed: NeededPermission) => ({
      detail: { "x-permission": needed } as Record<`x-${string}`, unknown>,
      resolve({ request }) {
        const caller = callers.get(request);
        // A route that runs without the gate, or by another route's permission, must not run at all.
        if (!caller?.principal || caller.permission !== needed)
          throw new Error("This route was reached around the gate");
        return { caller, principal: caller.principal };
      },
    }),
    open: (reason: string) => ({
      detail: { "x-open": reason } as Record<`x-${string}`, unknown>,
      resolve({ request }) {
        return { caller: callers.get(request) ?? NOBODY };
      },
    }),
  });
}

const NOBODY: Caller = {
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

/** Lists each route with what it declares; one that declares nothing is a mistake and stops the start. */
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
