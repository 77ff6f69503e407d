import { missingTool, toolAdvice } from "../../../../domain/deployments/missing_tool.ts";
import { type ListeningSocket, unreachable } from "../../../../domain/deployments/unreachable.ts";
import { type Failure, invalid } from "../../../../domain/failure.ts";
import { hasServices, SOLE_SERVICE } from "../../../../domain/services/sole_service.ts";
import type { Instance } from "../../../../ports/services/runtime.ts";
import type { Run } from "../run.ts";
import { called, healthPath, lastOutput, type Started } from "./started_service.ts";

/** A run with the ports of this step. */
type StepRun = Run<"instanceSockets" | "runtime">;

/** The state of a service when the wait for it ended. */
export interface Unready {
  readonly instance: Instance | undefined;
  /** The HTTP status of its last response, if any. */
  readonly status: number | null;
  readonly limitMs: number;
}

/** Why a service that was not ready in time does not go live. */
export async function unanswered(run: StepRun, started: Started, unready: Unready): Promise<Failure> {
  const { record } = started;
  const { oneShot } = record.spec;
  const { instance, status, limitMs } = unready;
  const path = healthPath(run, started);
  const live = `Cannot bring ${called(record)} live`;
  const within = `within ${Math.round(limitMs / 1000)} seconds`;
  if (oneShot) return invalid("not_done", `Cannot finish ${called(record)}: it did not end ${within}`);
  if (path === null && instance?.health === "unhealthy") {
    const whose = record.spec.container.healthcheck === null ? "the HEALTHCHECK of its image" : "its health check";
    return invalid("health_failed", `${live}: ${whose} did not succeed ${within}`);
  }
  if (!started.isPublic) return invalid("health_failed", `${live}: it was not up and healthy ${within}`);
  if (path !== null && status !== null) {
    const reason = `it answers ${status} on ${path}, and did not answer with a status below 400 ${within}`;
    return invalid("health_failed", `${live}: ${reason}. ${adviceFor(status)}`);
  }
  const sockets = await run.ports.instanceSockets.listening(started.instanceId);
  const reason = sockets && instance && listensWrong(run, started, instance, sockets);
  if (reason !== undefined) return invalid("health_failed", `${live}: ${reason}`);
  const how = path ?? (record.image === null ? "its port ($PORT)" : `its port (${record.spec.ports[0]})`);
  const isUnseen = instance?.relayed && sockets === undefined;
  const hint = isUnseen ? ". In a container a program has to listen on 0.0.0.0, not on 127.0.0.1" : "";
  return invalid("health_failed", `${live}: it did not answer on ${how} ${within}${hint}`);
}

/** Why the address that a program listens on is wrong, with advice; `undefined` if it is right. */
function listensWrong(
  { deployment }: Run,
  { record }: Started,
  { ports }: Instance,
  sockets: readonly ListeningSocket[],
): string | undefined {
  const [first] = ports;
  if (!first) return undefined;
  const inContainer = record.image !== null;
  // A compose file declares itself what environment its services get.
  const getsPort = !inContainer || record.spec.from.kind === "app" || !hasServices(deployment);
  const name = getsPort ? `$PORT (${first.inside})` : `port ${first.inside}`;
  const reason = unreachable(sockets, { port: first.inside, name, inContainer });
  if (reason === undefined || sockets.some(({ port }) => port === first.inside)) return reason;
  const setting = hasServices(deployment) ? "the port of its public endpoint" : "port on the project";
  const setPort = inContainer && sockets.length > 0 ? [`set ${setting} to ${sockets[0]!.port}`] : [];
  const read = getsPort ? ["read the port from the environment variable PORT"] : [];
  const advice = [...read, ...setPort].join(", or ") || `make it listen on ${first.inside}`;
  return `${reason}. ${advice.charAt(0).toUpperCase()}${advice.slice(1)}`;
}

/** Why a service that was healthy before does not stay live. */
export function lost(run: Run, started: Started, { instance, status }: Omit<Unready, "limitMs">): Failure {
  const code = instance?.exit?.code ?? null;
  const path = healthPath(run, started);
  const keep = `Cannot keep ${called(started.record)} live`;
  if (code !== null) return invalid("health_failed", `${keep}: it ended with code ${code}`);
  if (path !== null && status !== null) {
    const reason = `it was healthy, but now it answers ${status} on ${path}`;
    return invalid("health_failed", `${keep}: ${reason}. ${adviceFor(status)}`);
  }
  const reason = started.isPublic ? "it answered, but then stopped answering" : "it did not stay up";
  return invalid("health_failed", `${keep}: ${reason}`);
}

const PRINTED_LAST = "The log shows what it printed last: fix what it reports, then deploy again";

/** Why a service that has exited, or is in a crash loop, does not go live. */
export async function ended(run: StepRun, started: Started, instance: Instance | undefined): Promise<Failure> {
  const { record } = started;
  const live = `Cannot bring ${called(record)} live`;
  const code = instance?.exit?.code;
  if (instance?.exit?.reason === "out_of_memory") return invalid("out_of_memory", `${live}: it ran out of memory`);
  const lacks = code === undefined ? undefined : await lackedTool(run, started, code);
  if (instance?.failing) {
    if (lacks !== undefined) return invalid("crash_loop", `${live}: ${lacks}`);
    const hint =
      code === 0 && record.spec.name !== SOLE_SERVICE ? "If it is meant to end, set oneShot: true" : PRINTED_LAST;
    return invalid("crash_loop", `${live}: it ended repeatedly, last with code ${code}. ${hint}`);
  }
  const how = lacks ?? `it ended${instance?.exit ? ` with code ${code}` : ""}`;
  if (record.spec.oneShot) return invalid("one_shot_failed", `Cannot finish ${called(record)}: ${how}`);
  return invalid("start_failed", `${live}: ${how}`);
}

/** Explains that a program exited because a tool that it calls is missing; `undefined` if that is not the cause. */
async function lackedTool(
  run: StepRun,
  { instanceId, record }: Started,
  code: number | null,
): Promise<string | undefined> {
  const lines = await lastOutput(run, instanceId).catch(() => []);
  const tool = missingTool(
    lines.map(({ message }) => message),
    code,
  );
  const where = record.image === null ? "machine" : "image";
  return tool === undefined ? undefined : toolAdvice(tool, { where, caller: "its start command" });
}

function adviceFor(status: number): string {
  if (status >= 500) return PRINTED_LAST;
  if (status === 401 || status === 403) return "Set healthPath to a path that needs no login";
  return "Set healthPath to a path that it answers with a status below 400";
}
