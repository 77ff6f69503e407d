import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { holdFile } from "../../../adapters/shared/file_lock.ts";
import { freePort } from "../../../adapters/shared/free_port.ts";

/** Disjoint from the ports that servers under test choose for their instances. */
const RANGE = { first: 27_000, last: 29_999 };

/** A free loopback port, reserved against other test processes until disposed or until this process exits. */
export interface TestPort extends Disposable {
  readonly port: number;
}

/** Reserves a port for a server under test. */
export function testPort(): TestPort {
  const folder = join(tmpdir(), "slipway-test-ports");
  mkdirSync(folder, { recursive: true });
  const taken = new Set<number>();
  for (;;) {
    const port = freePort(RANGE, { taken });
    if (port === undefined) throw new Error("Cannot start a server under test: found no free port");
    const held = holdFile(join(folder, `${port}`));
    if (held) return { port, [Symbol.dispose]: () => held[Symbol.dispose]() };
    taken.add(port);
  }
}
