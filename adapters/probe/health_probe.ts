import { connect } from "node:net";
import type { HealthProbe } from "../../ports/health_probe.ts";

/** Asks programs of this machine over HTTP, or by a mere connection. */
export class NetworkHealthProbe implements HealthProbe {
  async answers(
    { host, port, path }: { readonly host: string; readonly port: number; readonly path: string | null },
    { timeoutMs }: { readonly timeoutMs: number },
  ): Promise<boolean> {
    if (path === null) return connects(host, port, timeoutMs);
    try {
      const answer = await fetch(`http://${host}:${port}${path}`, {
        redirect: "manual",
        signal: AbortSignal.timeout(timeoutMs),
      });
      await answer.body?.cancel();
      return answer.status < 400;
    } catch {
      return false;
    }
  }
}

function connects(host: string, port: number, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: timeoutMs });
    const settle = (connected: boolean) => {
      socket.destroy();
      resolve(connected);
    };
    socket.once("connect", () => settle(true));
    socket.once("timeout", () => settle(false));
    socket.once("error", () => settle(false));
  });
}
