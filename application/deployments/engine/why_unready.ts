import { type Failure, invalid } from "../../../domain/failure.ts";
import type { ServiceRecord } from "../../../domain/composition/composition.ts";
import { SOLE_SERVICE } from "../../../domain/composition/sole_service.ts";
import type { Instance } from "../../../ports/runtime.ts";
import type { Run } from "./run.ts";
import { called, healthPath, type Started } from "./started_service.ts";

/** How a service stood when it was given up. */
export interface Unready {
  readonly instance: Instance | undefined;
  /** The status that it answered with, if it did. */
  readonly status: number | null;
  readonly limitMs: number;
}

/** Why a service that was waited for in vain does not go live. */
export function unanswered(run: Run, started: Started, { instance, status, limitMs }: Unready): Failure {
  const { record } = started;
  const { ports, oneShot } = record.spec;
  const path = healthPath(run, started);
  const live = `Cannot bring ${called(record)} live`;
  const within = `within ${Math.round(limitMs / 1000)} seconds`;
  if (oneShot) return invalid("not_done", `Cannot finish ${called(record)}: it did not end ${within}`);
  if (path === null && instance?.health === "unhealthy") {
    const whose = record.spec.container.healthcheck === null ? "the HEALTHCHECK of its image" : "its health check";
    return invalid("health_failed", `${live}: ${whose} did not succeed ${within}`);
  }
  if (!started.isPublic) return invalid("health_failed", `${live}: it was not up and well ${within}`);
  if (path !== null && status !== null) {
    const reason = `it answers ${status} on ${path}, and a status below 400 did not come ${within}`;
    return invalid("health_failed", `${live}: ${reason}. ${adviceFor(status)}`);
  }
  const how = path ?? (record.image === null ? "its port ($PORT)" : `its port (${ports[0]})`);
  const hint = instance?.relayed ? ". In a container a program has to listen on 0.0.0.0, not on 127.0.0.1" : "";
  return invalid("health_failed", `${live}: it did not answer on ${how} ${within}${hint}`);
}

/** Why a service that was well before does not stay live. */
export function lost(run: Run, started: Started, { instance, status }: Omit<Unready, "limitMs">): Failure {
  const code = instance?.exit?.code ?? null;
  const path = healthPath(run, started);
  const keep = `Cannot keep ${called(started.record)} live`;
  if (code !== null) return invalid("health_failed", `${keep}: it ended with code ${code}`);
  if (path !== null && status !== null) {
    const reason = `it was well, and now it answers ${status} on ${path}`;
    return invalid("health_failed", `${keep}: ${reason}. ${adviceFor(status)}`);
  }
  const reason = started.isPublic ? "it answered, and then it did not any more" : "it did not stay up";
  return invalid("health_failed", `${keep}: ${reason}`);
}

/** Why a service that has ended, or ends again and again, does not go live. */
export function ended(record: ServiceRecord, instance: Instance | undefined): Failure {
  const live = `Cannot bring ${called(record)} live`;
  const code = instance?.exit?.code;
  if (instance?.exit?.reason === "out_of_memory") return invalid("out_of_memory", `${live}: it ran out of memory`);
  if (instance?.failing) {
    const hint = code === 0 && record.spec.name !== SOLE_SERVICE ? ". If it is meant to end, say oneShot: true" : "";
    return invalid("crash_loop", `${live}: it ended again and again, last with code ${code}${hint}`);
  }
  const how = instance?.exit ? ` with code ${code}` : "";
  if (record.spec.oneShot) return invalid("one_shot_failed", `Cannot finish ${called(record)}: it ended${how}`);
  return invalid("start_failed", `${live}: it ended${how}`);
}

function adviceFor(status: number): string {
  if (status >= 500) return "The log shows what it printed last: mend what it reports, then deploy again";
  if (status === 401 || status === 403) return "Set healthPath to a path that needs no login";
  return "Set healthPath to a path that it answers with a status below 400";
}
