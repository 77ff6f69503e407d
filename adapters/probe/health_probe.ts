import { connect, type Socket } from "node:net";
import type { HealthProbe, ProbeResult, ProbeTarget } from "../../ports/deployments/health_probe.ts";

/** How long a relayed connection must stay open. A relay without an upstream hangs up within milliseconds. */
const STAYS_OPEN_MS = 500;

/** Checks the health of programs on this machine by an HTTP request or a TCP connection. */
export class NetworkHealthProbe implements HealthProbe {
  async check(target: ProbeTarget, { timeoutMs }: { readonly timeoutMs: number }): Promise<ProbeResult> {
    const { host, port, path, relayed } = target;
    if (path === null) {
      return { isHealthy: await connects(target, timeoutMs, relayed ? asksBack : taken), status: null };
    }
    try {
      const { body, status } = await fetch(`http://${host}:${port}${path}`, {
        redirect: "manual",
        signal: AbortSignal.timeout(timeoutMs),
      });
      await body?.cancel();
      return { isHealthy: status < 400, status };
    } catch {
      return { isHealthy: false, status: null };
    }
  }
}

/** Checks an open connection and settles the result. */
type Connected = (socket: Socket, settle: (answers: boolean) => void, timeoutMs: number) => void;

function connects({ host, port }: ProbeTarget, timeoutMs: number, then: Connected): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const settle = (answers: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answers);
    };
    const timer = setTimeout(() => settle(false), timeoutMs);
    for (const event of ["end", "close", "error"]) socket.once(event, () => settle(false));
    socket.once("connect", () => then(socket, settle, timeoutMs));
  });
}

const taken: Connected = (_, settle) => settle(true);

/** Sends a request to check that the relay does not hang up. A non-HTTP program may stay silent, or wait for more. */
const asksBack: Connected = (socket, settle, timeoutMs) => {
  const open = setTimeout(() => settle(true), Math.min(STAYS_OPEN_MS, timeoutMs / 2));
  socket.once("close", () => clearTimeout(open));
  socket.once("data", () => settle(true));
  socket.write("GET / HTTP/1.0\r\n\r\n");
};
