import type { ApplicationPorts } from "../application_ports.ts";
import { answerOnce } from "./answer_once.ts";
import { sweep, sweepUploads } from "./sweep.ts";
import { sweepHistory } from "./sweep_history.ts";

export type SystemUseCases = ReturnType<typeof systemUseCases>;

/** The use cases of the installation itself. */
export function systemUseCases(ports: ApplicationPorts) {
  return {
    answerOnce: answerOnce(ports),
    auditTrail: ports.auditTrail,
    sweep: sweep(ports),
    sweepHistory: sweepHistory(ports),
    sweepUploads: sweepUploads(ports),
  };
}
