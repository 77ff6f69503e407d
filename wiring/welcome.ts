/** Input of the welcome message. */
export interface Welcome {
  readonly version: string;
  readonly publicUrl: string;
  readonly dataFolder: string;
  /** The URL of deployed apps. */
  readonly appsUrl: string;
  /** The runtime of projects that do not choose one. */
  readonly runtime: "docker" | "process";
  /** The first owner's token, if it was just generated. */
  readonly shownToken: string | undefined;
}

/** Renders the message of a started server: its addresses, the first token once, and the next command to type. */
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
