import { type Refinement, warned } from "./ecosystem.ts";

const LINE = /^([A-Za-z0-9_-]+):\s*(\S.*)$/;

/** Takes the start command from the `web` line of a Procfile. */
export const procfile: Refinement = {
  manifests: ["Procfile"],
  refine(folder, found) {
    const lines = (folder.text("Procfile") ?? "").split(/\r?\n/).flatMap((line) => {
      const [, name, command] = LINE.exec(line.trim()) ?? [];
      return name === undefined || command === undefined ? [] : [{ name, command }];
    });
    const web = lines.find(({ name }) => name === "web");
    if (web === undefined) return found;
    const others = lines.filter(({ name }) => name !== "web").map(({ name }) => name);
    const started = { ...found, projectType: "app" as const, startCommand: web.command, port: found?.port ?? 3000 };
    if (others.length === 0) return started;
    return warned(started, `Cannot start all of the Procfile: only web is started, not ${others.join(", ")}`);
  },
};
