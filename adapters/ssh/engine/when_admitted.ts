const PAUSES_MS = [10, 20, 50, 100, 200, 400, 800, 1_600];

/**
 * Opens a channel, again and again for some seconds while the server refuses it: a program that has just ended counts
 * against the limit of a connection until the server has noticed. Rejects with the last error.
 */
export async function whenAdmitted<T>(open: () => Promise<T>): Promise<T> {
  for (const pauseMs of PAUSES_MS) {
    try {
      return await open();
    } catch (error) {
      if (!isRefusal(error)) throw error;
    }
    await Bun.sleep(pauseMs);
  }
  return open();
}

/** Returns whether the server itself refused to open a channel; the errors of a broken connection have no reason. */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && "reason" in error;
}
