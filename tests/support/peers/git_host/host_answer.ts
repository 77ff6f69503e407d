const DOCUMENTATION = "https://docs.example.com/rest";

/** An answer that ends the handling of a request early. */
export class HostAnswer extends Error {
  readonly response: Response;

  constructor(response: Response) {
    super(`The emulated git host answers ${response.status}`);
    this.response = response;
  }

  /** An error as the git host words it. */
  static error(status: number, message: string, errors?: readonly object[]): HostAnswer {
    const body = { message, ...(errors ? { errors } : {}), documentation_url: DOCUMENTATION, status: `${status}` };
    return new HostAnswer(Response.json(body, { status }));
  }

  static notFound(message = "Not Found"): HostAnswer {
    return HostAnswer.error(404, message);
  }

  /** A request that is well-formed but not valid, with the reason in `errors`, as for most fields. */
  static invalid(resource: string, field: string, message: string): HostAnswer {
    return HostAnswer.error(422, "Validation Failed", [{ resource, code: "custom", field, message }]);
  }
}
