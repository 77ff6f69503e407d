import { join } from "node:path";
import { noteFile } from "../../../adapters/edge/separate/edge_note.ts";
import { stopEdge, SeparateEdge, type SeparateEdgeOptions } from "../../../adapters/edge/separate/separate_edge.ts";
import { askerOf, type RunningEdge } from "./running_edge.ts";
import { temporaryPlace } from "./slipway_process.ts";
import { testPort } from "./test_port.ts";

const COMMAND = [process.execPath, join(import.meta.dir, "../../../wiring/edge_process.ts")];

type EdgeSettings = Pick<SeparateEdgeOptions, "httpsRedirect" | "hstsSeconds" | "log" | "trustedProxies" | "workers">;

/** An edge in a separate process. Disposal stops it. */
export interface RunningSeparateEdge extends AsyncDisposable {
  readonly edge: SeparateEdge;
  /** The path of its note file, which records how to reach it. */
  readonly note: string;
  readonly port: number;
  readonly ask: RunningEdge["ask"];
  /** Another client of the same edge, as another server would have. */
  another(changed?: EdgeSettings): Promise<SeparateEdge>;
}

/** Starts an edge without routes. */
export async function separateEdge(settings: EdgeSettings = {}): Promise<RunningSeparateEdge> {
  await using opened = new AsyncDisposableStack();
  const { data: folder } = opened.use(await temporaryPlace());
  const { port } = opened.use(testPort());
  opened.defer(async () => void (await stopEdge(noteFile(folder, port), { ifAlone: false, graceMs: 0 })));
  const lifetime = opened.move();
  const another: RunningSeparateEdge["another"] = async (changed) => {
    const edge = lifetime.use(new SeparateEdge({ folder, command: COMMAND, ...settings, ...changed }));
    await edge.listen({ host: "127.0.0.1", port, tlsPort: 0 });
    return edge;
  };
  try {
    const edge = await another();
    await edge.load([]);
    const note = noteFile(folder, port);
    return { edge, note, port, ask: askerOf(edge), another, [Symbol.asyncDispose]: () => lifetime.disposeAsync() };
  } catch (error) {
    await lifetime.disposeAsync();
    throw error;
  }
}
