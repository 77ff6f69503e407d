/** Preloaded into a server. SIGUSR2 causes an unhandled promise rejection, SIGUSR1 an uncaught exception. */
process.on(
  "SIGUSR2",
  () => void Promise.reject(new Error("an unhandled rejection", { cause: new Error("a deep cause") })),
);
process.on("SIGUSR1", () => {
  throw new RangeError("an uncaught exception");
});
