/** Is loaded into a server before it starts: SIGUSR2 makes a promise reject that nobody handles, SIGUSR1 something throw that nobody catches. */
process.on(
  "SIGUSR2",
  () => void Promise.reject(new Error("nobody handles this", { cause: new Error("a deep cause") })),
);
process.on("SIGUSR1", () => {
  throw new RangeError("nobody catches this");
});
