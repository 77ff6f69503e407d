/** What a person reads once the server is up. */
export interface Welcome {
  readonly version: string;
  readonly publicUrl: string;
  readonly dataFolder: string;
  /** Where deployed apps are reached. */
  readonly appsUrl: string;
  /** What builds and runs projects that do not choose. */
  readonly runtime: "docker" | "process";
  /** The first owner's token, where it was just made up. */
  readonly shownToken: string | undefined;
}

/** Says where things are, the first token once, and what to type next. */
export function welcome({ version, publicUrl, appsUrl, dataFolder, runtime, shownToken }: Welcome): string {
  const lines = [
    `Slipway ${version} is up. Stop it with Ctrl-C.`,
    `  API    ${publicUrl}/api`,
    `  Docs   ${publicUrl}/api/docs`,
    `  Apps   ${appsUrl}`,
    `  Data   ${dataFolder}`,
    `  Runs   ${runtime === "docker" ? "in containers, on Docker" : "as sandboxed processes of this machine"}`,
  ];
  if (shownToken !== undefined) {
    lines.push(`  Token  ${shownToken}`, "         This is the first owner's token. It is shown only now: keep it.");
  }
  lines.push(
    "Next, in another terminal, with the token in SLIPWAY_TOKEN:",
    `  curl -H "Authorization: Bearer $SLIPWAY_TOKEN" ${publicUrl}/api/auth/me`,
    "",
  );
  return lines.join("\n");
}
