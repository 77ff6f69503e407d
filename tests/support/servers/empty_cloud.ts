/** Answers as a hosted cloud does that accepts every link and has no deployments. */
export function emptyCloud(request: Request): Response {
  const { pathname } = new URL(request.url);
  if (pathname.endsWith("/api/health")) return Response.json({ status: "ok", version: "0.0.0", mode: "cloud" });
  if (pathname.endsWith("/api/auth/me")) return Response.json({ data: { credential: { kind: "token", link: true } } });
  const problem = { success: false, error: "Cannot find this deployment", code: "deployment_not_found" };
  return Response.json(problem, { status: 404 });
}
