import { expect } from "bun:test";
import type { TestProject } from "../apps/deploying.ts";
import { eventually } from "../eventually.ts";

const DOWN = /^It ended with code 1 and is restarted automatically, next try at \d{4}-/;
/** A note that is written late, on a busy machine, reports that the restart has already happened. */
const NOTE = /^The program ended with code 1, (?:next try in [\d.]+ s|started again)$/;

/** The info about the single service of a deployment. */
export async function shownService(project: TestProject, id: string) {
  return (await project.call("GET", `/api/deployments/${id}/info`)).body.data.services[0];
}

/** Waits until a live app is in a crash loop with exit code 1, and expects all parts of the API to report it. */
export async function expectShownDown(project: TestProject, id: string): Promise<void> {
  const info = await eventually(
    () => shownService(project, id),
    ({ restarts, status }) => restarts >= 5 && status === "failed",
  );
  expect(info).toMatchObject({ error: "It ended with code 1", nextStartAt: expect.any(String), containerId: null });
  const down = await eventually(
    () => project.get(id),
    ({ services }) => services[0].status === "failed",
  );
  expect(down).toMatchObject({ status: "ready", active: true, error: null });
  expect(down.services[0].error).toMatch(DOWN);
  const notes = await eventually(
    () => notesOf(project, id),
    (messages) => messages.some((message) => message.includes("next try in")),
  );
  for (const message of notes) expect(message).toMatch(NOTE);
}

/** The runtime's notes among the output of the app. */
async function notesOf(project: TestProject, id: string): Promise<string[]> {
  const { body } = await project.call("GET", `/api/deployments/${id}/logs?kind=runtime`);
  const lines = body.data as readonly { readonly stream: string; readonly message: string }[];
  return lines.filter(({ stream }) => stream === "slipway").map(({ message }) => message);
}

/** Waits until the app is up again, and expects all parts of the API to report it, and the events of the outage. */
export async function expectShownBack(project: TestProject, id: string): Promise<void> {
  const page = () => project.page().catch(() => "");
  expect(await eventually(page, (text) => text === "v1")).toBe("v1");
  const back = await eventually(
    () => project.get(id),
    ({ services }) => services[0].status === "healthy",
  );
  expect(back).toMatchObject({ status: "ready", active: true, services: [{ error: null }] });
  expect(await shownService(project, id)).toMatchObject({ status: "running", error: null, nextStartAt: null });
  const events: string[] = [];
  for await (const { type, status } of project.events(id)) if (status) events.push(`${type} ${status}`);
  expect(events.slice(-4)).toEqual(["service failed", "end ready", "service healthy", "end ready"]);
}
