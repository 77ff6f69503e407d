import type { CommitFiles } from "../peers/git_server.ts";

/** An app that responds with its version. A slow one takes a while to build and to listen. */
export function versionedApp(version: string, { slow }: { readonly slow: boolean }): CommitFiles {
  return {
    "build.sh": `echo building ${version}\nsleep ${slow ? 1.5 : 0}\necho ${version} >built\n`,
    "server.js": `
      const { readFileSync } = require("node:fs");
      const version = readFileSync("built", "utf8").trim();
      setTimeout(() => Bun.serve({ port: process.env.PORT, fetch: () => new Response(version) }), ${slow ? 800 : 0});
    `,
  };
}
